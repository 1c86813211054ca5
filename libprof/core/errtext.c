/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table.
 */
#include "errtext.h"

#include <errno.h>
#include <stddef.h>

const char *prof_error_text(int error)
{
	static const char *const text[] = {
		[ENOENT] = "No such file or directory",
		[ESRCH] = "No such process",
		[EINTR] = "Interrupted system call",
		[EIO] = "Input/output error",
		[ENXIO] = "No such device or address",
		[EAGAIN] = "Resource temporarily unavailable",
		[ENOMEM] = "Cannot allocate memory",
		[EACCES] = "Permission denied",
		[EPERM] = "Operation not permitted",
		[EFAULT] = "Bad address",
		[EBUSY] = "Device or resource busy",
		[EEXIST] = "File exists",
		[EXDEV] = "Invalid cross-device link",
		[ENODEV] = "No such device",
		[ENOTDIR] = "Not a directory",
		[EISDIR] = "Is a directory",
		[EINVAL] = "Invalid argument",
		[ENFILE] = "Too many open files in system",
		[EMFILE] = "Too many open files",
		[EFBIG] = "File too large",
		[ENOSPC] = "No space left on device",
		[ESPIPE] = "Illegal seek",
		[EROFS] = "Read-only file system",
		[EMLINK] = "Too many links",
		[EPIPE] = "Broken pipe",
		[ENAMETOOLONG] = "File name too long",
		[ENOSYS] = "Function not implemented",
		[ELOOP] = "Too many levels of symbolic links",
		[EOVERFLOW] = "Value too large for defined data type",
		[EDQUOT] = "Disk quota exceeded",
		[ESTALE] = "Stale file handle",
		[EBADF] = "Bad file descriptor",
		[EPROTO] = "Protocol error",
		[EBADMSG] = "Bad message",
		[ENOTCONN] = "Transport endpoint is not connected",
		[ECONNREFUSED] = "Connection refused",
		[ECONNRESET] = "Connection reset by peer",
		[ETIMEDOUT] = "Connection timed out",
		[ENOTSUP] = "Operation not supported",
	};

	if (error <= 0 || (size_t)error >= sizeof(text) / sizeof(text[0]) || !text[error])
		return "error";
	return text[error];
}
