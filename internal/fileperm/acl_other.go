//go:build !linux

package fileperm

// hasACL works on Linux only. Elsewhere an access control list does not change the mode and is not
// detected.
func hasACL(string) bool { return false }
