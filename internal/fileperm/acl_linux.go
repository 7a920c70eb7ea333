package fileperm

import "syscall"

// hasACL tells whether a file has a POSIX access list. The mode's group bits are
// then the most that anybody on the list may do, not what the group may do.
func hasACL(path string) bool {
	n, err := syscall.Getxattr(path, "system.posix_acl_access", nil)
	return err == nil && n > 0
}
