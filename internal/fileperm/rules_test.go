package fileperm

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
)

// anna is an ordinary user with a private group (1000), who is also in the group 3000.
// User 2000 is eve.
func anna() identity {
	return identity{uid: 1000, groups: []int{1000, 3000}, unmapped: -1, private: func(gid int) bool { return gid == 0 || gid == 1000 }}
}

func root() identity {
	return identity{uid: 0, groups: []int{0}, unmapped: -1, private: func(gid int) bool { return gid == 0 }}
}

// fakeFileInfo is an invented file.
type fakeFileInfo struct{ mode fs.FileMode }

func (i fakeFileInfo) Name() string       { return "x" }
func (i fakeFileInfo) Size() int64        { return 0 }
func (i fakeFileInfo) Mode() fs.FileMode  { return i.mode }
func (i fakeFileInfo) ModTime() time.Time { return time.Time{} }
func (i fakeFileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fakeFileInfo) Sys() any           { return nil }

func fakeFile(mode fs.FileMode, uid, gid int) entry {
	e := entryOf("/srv/x", fakeFileInfo{mode})
	e.uid, e.gid, e.device = uid, gid, 7
	return e
}

func expectRefusal(t *testing.T, name string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: unexpected refusal: %v", name, err)
	case want != "" && (err == nil || fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), want)):
		t.Errorf("%s: found %v, expected a refusal with %q", name, err, want)
	}
}

func TestSecretFilesFollowThePermissionRuleOfPostgreSQL(t *testing.T) {
	for _, c := range []struct {
		name     string
		me       identity
		mode     fs.FileMode
		uid, gid int
		want     string // of the refusal; "": accepted
	}{
		{"ours alone", anna(), 0o600, 1000, 1000, ""},
		{"ours, read only", anna(), 0o400, 1000, 1000, ""},
		{"ours, own group reads", anna(), 0o640, 1000, 1000, "Run: chmod 600 /srv/x"},
		{"ours, everybody reads", anna(), 0o644, 1000, 1000, "Run: chmod 600 /srv/x"},
		{"ours, everybody may run it", anna(), 0o601, 1000, 1000, "chmod 600"},
		{"root's, as Kubernetes mounts it for a group", anna(), 0o440, 0, 3000, ""},
		{"root's, group reads", anna(), 0o640, 0, 3000, ""},
		{"root's, group writes", anna(), 0o660, 0, 3000, "Run as root: chmod 640 /srv/x"},
		{"root's, everybody reads", anna(), 0o644, 0, 3000, "Run as root: chmod 640 /srv/x"},
		{"root's, of no group of ours", anna(), 0o444, 0, 0, "Run as root: chown 1000 /srv/x && chmod 600 /srv/x"},
		{"another user's", anna(), 0o400, 2000, 2000, "chown 1000 /srv/x"},
		{"root reads another user's", root(), 0o600, 1000, 1000, "chown 0 /srv/x"},
		{"root's own, group reads", root(), 0o640, 0, 3000, "Run: chmod 600 /srv/x"},
		{"a pipe of ours", anna(), fs.ModeNamedPipe | 0o600, 1000, 1000, ""},
		{"a pipe that everybody reads", anna(), fs.ModeNamedPipe | 0o644, 1000, 1000, "chmod 600"},
		{"a terminal", anna(), fs.ModeDevice | fs.ModeCharDevice | 0o620, 1000, 5, ""},
		{"a directory", anna(), fs.ModeDir | 0o700, 1000, 1000, "is a directory"},
	} {
		expectRefusal(t, c.name, c.me.keepsSecret("key", fakeFile(c.mode, c.uid, c.gid)), c.want)
	}
}

func TestPublicFilesAreRefusedWhenOthersMayWriteThem(t *testing.T) {
	for _, c := range []struct {
		name     string
		mode     fs.FileMode
		uid, gid int
		acl      bool
		want     string
	}{
		{"everybody reads", 0o644, 1000, 1000, false, ""},
		{"root's", 0o644, 0, 0, false, ""},
		{"own group writes", 0o664, 1000, 1000, false, ""},
		{"own group and an access list", 0o664, 1000, 1000, true, "chmod go-w /srv/x"},
		{"a shared group writes", 0o664, 1000, 3000, false, "chmod go-w /srv/x"},
		{"everybody writes", 0o666, 1000, 1000, false, "mode 0666"},
		{"another user's", 0o644, 2000, 2000, false, "chown 1000 /srv/x"},
	} {
		e := fakeFile(c.mode, c.uid, c.gid)
		e.acl = c.acl
		expectRefusal(t, c.name, anna().mayTrust("certificate", e), c.want)
		if c.uid == 2000 {
			expectRefusal(t, c.name+", of any owner", anna().notWritten("profile", e), "")
		}
	}
}

func TestTheDataDirectoryMustBePrivate(t *testing.T) {
	dir := fs.ModeDir
	for _, c := range []struct {
		name     string
		me       identity
		mode     fs.FileMode
		uid, gid int
		want     string
	}{
		{"ours alone", anna(), dir | 0o700, 1000, 1000, ""},
		{"others can read, which is revoked", anna(), dir | 0o755, 1000, 1000, ""},
		{"writable by the private group", anna(), dir | 0o775, 1000, 1000, ""},
		{"everybody writes", anna(), dir | 0o777, 1000, 1000, "chmod 700 /srv/x"},
		{"everybody writes, sticky", anna(), dir | fs.ModeSticky | 0o777, 1000, 1000, "mode 1777"},
		{"a shared group writes", anna(), dir | 0o770, 1000, 3000, "Users of the group"},
		{"another user's", anna(), dir | 0o700, 2000, 2000, "chown -R 1000 /srv/x"},
		{"root's volume for our group", anna(), dir | fs.ModeSetgid | 0o775, 0, 3000, "for itself alone: /srv/x/shardboard"},
		{"root's volume for everybody", anna(), dir | fs.ModeSetgid | 0o777, 0, 3000, "chown -R 1000 /srv/x"},
		{"root's", anna(), dir | 0o755, 0, 0, "chown -R 1000 /srv/x"},
		{"root on a user's volume", root(), dir | 0o700, 1000, 1000, "chown -R 0 /srv/x"},
		{"a file", anna(), 0o600, 1000, 1000, "not a directory"},
	} {
		expectRefusal(t, c.name, c.me.ownsDir("data directory", fakeFile(c.mode, c.uid, c.gid)), c.want)
	}
}

func TestParentDirectoriesMustNotBeWritableByOthers(t *testing.T) {
	hidden := anna()
	hidden.unmapped = 65534
	for _, c := range []struct {
		name     string
		me       identity
		mode     fs.FileMode
		uid, gid int
		above    uint64 // device of the directory above; this one's is 7
		notes    int
		want     string
	}{
		{"root's", anna(), 0o755, 0, 0, 7, 0, ""},
		{"ours", anna(), 0o711, 1000, 1000, 7, 0, ""},
		{"sticky, as /tmp", anna(), fs.ModeSticky | 0o777, 0, 0, 7, 0, ""},
		{"everybody renames", anna(), 0o777, 0, 0, 7, 0, "chmod o-w /srv/x"},
		{"another user's", anna(), 0o755, 2000, 2000, 7, 0, "belongs to another user"},
		{"another user's, sticky", anna(), fs.ModeSticky | 0o777, 2000, 2000, 7, 0, "belongs to another user"},
		{"our own group renames", anna(), 0o775, 1000, 1000, 7, 0, ""},
		{"a shared group renames", anna(), 0o775, 1000, 3000, 7, 0, "chmod g-w /srv/x"},
		{"a shared group renames in root's", anna(), 0o775, 0, 3000, 7, 0, "chmod g-w /srv/x"},
		{"root's volume for our group", anna(), fs.ModeSetgid | 0o775, 0, 3000, 6, 1, ""},
		{"root's volume for another group", anna(), fs.ModeSetgid | 0o775, 0, 4000, 6, 0, "chmod g-w /srv/x"},
		{"our volume for a group", anna(), 0o775, 1000, 3000, 6, 0, "chmod g-w /srv/x"},
		{"of a user outside the user namespace", hidden, 0o755, 65534, 65534, 7, 1, ""},
		{"the same, sticky", hidden, fs.ModeSticky | 0o777, 65534, 65534, 7, 1, ""},
		{"the same, and a group writes", hidden, 0o775, 65534, 65534, 7, 0, "belongs to another user"},
		{"of the user nobody without a user namespace", anna(), 0o755, 65534, 65534, 7, 0, "belongs to another user"},
	} {
		w := &walk{me: c.me, trusts: c.me.trusts}
		expectRefusal(t, c.name, w.passes(fakeFile(fs.ModeDir|c.mode, c.uid, c.gid), c.above, "/srv/x/data"), c.want)
		expect.Equal(t, len(w.notes), c.notes, "%s: notes %q", c.name, w.notes)
	}
}

func TestOwnFilesHaveOneNameAndOneWriter(t *testing.T) {
	second := fakeFile(0o600, 1000, 1000)
	second.links = 2
	for _, c := range []struct {
		name string
		e    entry
		want string
	}{
		{"ours", fakeFile(0o600, 1000, 1000), ""},
		{"of an older version, readable", fakeFile(0o644, 1000, 1000), ""},
		{"everybody writes", fakeFile(0o666, 1000, 1000), "chmod 600 /srv/x"},
		{"a shared group writes", fakeFile(0o660, 1000, 3000), "chmod 600 /srv/x"},
		{"another user's", fakeFile(0o600, 2000, 2000), "chown 1000 /srv/x"},
		{"a link", fakeFile(fs.ModeSymlink|0o777, 1000, 1000), "rm /srv/x"},
		{"a pipe", fakeFile(fs.ModeNamedPipe|0o600, 1000, 1000), "not a regular file"},
		{"two names", second, "cp -p /srv/x /srv/x.copy && mv -f /srv/x.copy /srv/x"},
	} {
		expectRefusal(t, c.name, anna().ownsFile("lock file", c.e, true), c.want)
	}
	expectRefusal(t, "two names, only read", anna().ownsFile("database", second, false), "")
}

func TestPrivateGroupsAreRecognised(t *testing.T) {
	const passwd = "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000::/home/anna:/bin/sh\nben:x:1001:100::/:\neve:x:2000:2000::/:\n"
	const group = "root:x:0:\nusers:x:100:\nanna:x:1000:\nstaff:x:50:anna\neve:x:2000:anna\n"
	for _, c := range []struct {
		name     string
		uid, gid int
		passwd   string
		group    string
		want     bool
	}{
		{"a user's own", 1000, 1000, passwd, group, true},
		{"with its owner as a member", 1000, 1000, passwd, strings.Replace(group, "anna:x:1000:", "anna:x:1000:anna", 1), true},
		{"with another member", 1000, 1000, passwd, strings.Replace(group, "anna:x:1000:", "anna:x:1000:anna,eve", 1), false},
		{"another user's first group too", 1000, 1000, passwd + "carl:x:1003:1000::/:\n", group, false},
		{"of another name", 1001, 100, passwd, group, false},
		{"another user's", 1000, 2000, passwd, group, false},
		{"a shared one", 1000, 50, passwd, group, false},
		{"a user of a directory service", 5000, 5000, passwd, group, false},
		{"a group of a directory service", 1000, 7000, passwd, group, false},
		{"no files, as in an empty image", 65532, 65532, "", "", false},
		{"lines that are none", 1000, 1000, "x\n::\n", ":::\n", false},
	} {
		expect.Equal(t, privateGroup(c.uid, c.gid, c.passwd, c.group), c.want, "%s: private group", c.name)
	}
}

func TestUserNamespacesThatMapAllUsersAreRecognised(t *testing.T) {
	for text, whole := range map[string]bool{"": true, "         0          0 4294967295\n": true, "0 1000 1\n": false,
		"0 100000 65536\n": false, "0 1000 1\n1 100000 65535\n": false} {
		expect.Equal(t, mapsAllUsers(text), whole, "%q: maps all users: %v", text, !whole)
	}
}
