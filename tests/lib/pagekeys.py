# SPDX-License-Identifier: Apache-2.0
"""Reads report.html strictly, without a browser, and checks each number of it with figures.py, as
tests/browser does with what a browser makes of it."""
import html.parser
import re

import figures

VOID = {'meta', 'br'}
QUIET = {'data', 'script', 'style', 'title', 'svg'}  # what is said there is no text of the page
QUIET_CLASSES = {'axis', 'live', 'gaps'}


def markup(page):
    """The page without what stands in its script elements."""
    return re.sub(r'(<script[^>]*>).*?(</script>)', r'\1\2', page, flags=re.S)


class Page(html.parser.HTMLParser):
    """Fails on anything that does not nest, on ids that are twice, on targets that are not there."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.targets, self.errors = [], [], [], []
        self.numbers, self.texts, self.joined, self.loose = [], [], [], []
        self.block, self.scripts = None, 0
        self.feed(page)
        self.close()
        if self.open:
            self.errors.append(f'not closed: {[t for t, _, _ in self.open]}')
        self.errors += [f'id {i} is there {self.ids.count(i)} times' for i in set(self.ids)
                        if self.ids.count(i) > 1]
        self.errors += [f'nothing has the id {t}' for t in self.targets if t not in self.ids]

    def handle_starttag(self, tag, attrs):
        names = [k for k, _ in attrs]
        if len(set(names)) < len(names):
            self.errors.append(f'<{tag}> has an attribute twice')
        attrs = dict(attrs)
        self.ids += [attrs['id']] if 'id' in attrs else []
        if 'href' in attrs:
            if not attrs['href'].startswith('#'):
                self.errors.append(f'leads out of the page: {attrs["href"]}')
            self.targets.append(attrs['href'][1:])
        for name in 'aria-labelledby', 'aria-describedby', 'for':
            self.targets += attrs.get(name, '').split()
        for name in attrs:
            if name.startswith('on') or name in ('src', 'style', 'action'):
                self.errors.append(f'<{tag} {name}>')
        self.scripts += tag == 'script'
        if tag not in VOID:
            self.open.append((tag, attrs, []))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.errors.append(f'</{tag}> closes {self.open[-1][0] if self.open else "nothing"}')
            return
        place = self.place()
        _, attrs, text = self.open.pop()
        text = ''.join(text)
        if tag == 'data':
            self.numbers.append(dict(value=attrs.get('value'), key=attrs.get('data-key'), place=place,
                                     unit=attrs.get('data-unit'), closed='data-closed' in attrs, of=attrs.get('data-of'),
                                     text=' '.join(text.split())))
        if 'data-text' in attrs:
            self.texts.append({'key': attrs['data-text'], 'as': attrs.get('data-text-as', ''),
                               'text': text, 'place': place})
        if 'data-from' in attrs:
            self.joined.append({'from': attrs['data-from'], 'text': text, 'place': place})
        if tag == 'script' and attrs.get('id') == 'gpustarve-data':
            self.block = text

    def place(self):
        return ' > '.join(t + (f'#{a["id"]}' if 'id' in a else '') for t, a, _ in self.open[-5:])

    def quiet(self):
        return any(t in QUIET or 'data-text' in a or 'data-from' in a or 'data-source' in a or
                   QUIET_CLASSES & set(a.get('class', '').split()) for t, a, _ in self.open)

    def handle_data(self, data):
        for _, _, text in self.open:
            text.append(data)
        if re.search(r'\d', data) and not self.quiet():
            self.loose.append({'node': data.strip(), 'text': data.strip(), 'place': self.place()})


def problems(page, summary):
    """All that is wrong with a page, and how many numbers were compared. The summary: figures.parse."""
    p = Page(page)
    return p.errors + [f'{kind}: {what}' for kind, what in figures.complaints(vars(p), summary)], len(p.numbers)
