package fileperm

import (
	"encoding/binary"
	"path/filepath"
	"syscall"
	"testing"
)

// An access list lets user 2000 write; the mode shows that as the group's right,
// and the group is the owner's own.
func TestAnAccessListThatLetsOthersWriteIsDetected(t *testing.T) {
	path := makeFile(t, filepath.Join(t.TempDir(), "cert.pem"), 0o644)
	const nobody = ^uint32(0)
	list := binary.LittleEndian.AppendUint32(nil, 2) // the form's version
	for _, e := range []struct {
		tag, perm uint16 // owner, a user, group, mask, other (acl(5))
		id        uint32
	}{{0x01, 6, nobody}, {0x02, 6, 2000}, {0x04, 4, nobody}, {0x10, 6, nobody}, {0x20, 4, nobody}} {
		list = binary.LittleEndian.AppendUint16(list, e.tag)
		list = binary.LittleEndian.AppendUint16(list, e.perm)
		list = binary.LittleEndian.AppendUint32(list, e.id)
	}
	if err := syscall.Setxattr(path, "system.posix_acl_access", list, 0); err != nil {
		t.Skip("no access lists here; the rule is in TestPublicFilesAreRefusedWhenOthersMayWriteThem:", err)
	}
	me := current()
	me.private = func(int) bool { return true }
	_, err := read("certificate", path, 10, me.mayTrust)
	expectRefusal(t, "an access list", err, "chmod go-w "+Quote(path))
}
