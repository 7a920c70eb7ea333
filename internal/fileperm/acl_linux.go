package fileperm

import "syscall"

// hasACL reports whether a file has a POSIX access control list. The mode's group bits are then the
// mask of the list, not the rights of the group.
func hasACL(path string) bool {
	n, err := syscall.Getxattr(path, "system.posix_acl_access", nil)
	return err == nil && n > 0
}
