package fileperm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// makeFile creates a file or directory with exactly this mode.
func makeFile(t *testing.T, path string, mode fs.FileMode) string {
	t.Helper()
	if mode.IsDir() {
		must.Do(t, os.Mkdir(path, 0o700))
	} else {
		must.Do(t, os.WriteFile(path, []byte("text\n"), 0o600))
	}
	must.Do(t, os.Chmod(path, mode))
	return path
}

func TestAMissingDirectoryIsCreatedPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	d, err := OwnDir("data directory", path)
	must.Do(t, err)
	for _, p := range []string{path, filepath.Dir(path)} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: unexpected file %v, error %v", p, info, err)
		}
	}
	if real, _ := filepath.EvalSymlinks(path); d.Path != real || len(d.Notes) != 0 {
		t.Errorf("%+v, want %s", d, real)
	}
}

func TestADirectoryReadableByOthersIsMadePrivateWithANote(t *testing.T) {
	dir := makeFile(t, filepath.Join(t.TempDir(), "data"), fs.ModeDir|fs.ModeSetgid|0o755)
	d, err := OwnDir("data directory", dir)
	must.Do(t, err)
	info := must.Get(os.Stat(dir))
	if info.Mode().Perm() != 0o700 || len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "0755") && !strings.Contains(d.Notes[0], "2755") {
		t.Errorf("unexpected mode %v, notes %q", info.Mode(), d.Notes)
	}
	if d, err = OwnDir("data directory", dir); err != nil || len(d.Notes) != 0 {
		t.Errorf("the second call has notes %q, %v; expected none", d.Notes, err)
	}
}

func TestDirectoriesWritableByOthersAreRefusedUnchanged(t *testing.T) {
	top := t.TempDir()
	dir := makeFile(t, filepath.Join(top, "data"), fs.ModeDir|0o777)
	_, err := OwnDir("data directory", dir)
	expectRefusal(t, "0777", err, "chmod 700 "+Quote(dir))
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o777 {
		t.Errorf("the mode was changed to %v, so the second start would not refuse it", info.Mode())
	}
	_, err = ReadDir("data directory", dir)
	expectRefusal(t, "0777, only read", err, "chmod 700")
	_, err = OwnDir("data directory", filepath.Join(dir, "in", "it"))
	expectRefusal(t, "below 0777", err, "chmod o-w "+Quote(dir))
	if _, err := os.Stat(filepath.Join(dir, "in")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was created in the refused directory")
	}
	must.Do(t, os.Chmod(dir, fs.ModeSticky|0o777))
	if _, err = OwnDir("data directory", filepath.Join(dir, "in")); err != nil {
		t.Errorf("below a sticky directory like /tmp: %v", err)
	}
}

func TestLinksAreFollowedExceptAsTheLastElement(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	data := makeFile(t, filepath.Join(top, "real"), fs.ModeDir|0o700)
	makeFile(t, filepath.Join(data, "sub"), fs.ModeDir|0o700)
	for name, target := range map[string]string{"absolute": data, "relative": "real", "up": "real/sub/..", "twice": "absolute",
		"round": "round", "open": "wide/d"} {
		must.Do(t, os.Symlink(target, filepath.Join(top, name)))
	}
	for _, name := range []string{"absolute", "relative", "up", "twice"} {
		d, err := OwnDir("data directory", filepath.Join(top, name, "sub"))
		expect.That(t, err == nil && d.Path == filepath.Join(data, "sub"), "%s/sub: %q, %v", name, d.Path, err)
		_, err = OwnDir("data directory", filepath.Join(top, name))
		expectRefusal(t, name, err, "is a link")
	}
	_, err = OwnDir("data directory", filepath.Join(top, "round", "sub"))
	expectRefusal(t, "round", err, "more than 40 links")
	makeFile(t, filepath.Join(top, "wide"), fs.ModeDir|0o777)
	makeFile(t, filepath.Join(top, "wide", "d"), fs.ModeDir|0o700)
	_, err = OwnDir("data directory", filepath.Join(top, "open", "sub"))
	expectRefusal(t, "a link into 0777", err, "chmod o-w "+Quote(filepath.Join(top, "wide")))
	path, _, err := ParentDir("audit key", filepath.Join(top, "up", "new.key"))
	expect.That(t, err == nil && path == filepath.Join(data, "new.key"), "a file below a link: %q, %v", path, err)
}

func TestOwnFilesAreNeverOpenedThroughALinkOrAPipe(t *testing.T) {
	dir := t.TempDir()
	victim := makeFile(t, filepath.Join(dir, "victim"), 0o600)
	must.Do(t, os.Symlink(victim, filepath.Join(dir, "link")))
	must.Do(t, os.Symlink(filepath.Join(dir, "none"), filepath.Join(dir, "dangling")))
	must.Do(t, os.Link(victim, filepath.Join(dir, "second")))
	must.Do(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	makeFile(t, filepath.Join(dir, "dir"), fs.ModeDir|0o700)
	makeFile(t, filepath.Join(dir, "wide"), 0o666)
	for name, want := range map[string]string{"link": "is a link to " + victim, "dangling": "is a link", "second": "has 2 names",
		"pipe": "not a regular file", "dir": "not a regular file", "wide": "mode 0666"} {
		path := filepath.Join(dir, name)
		f, err := OpenOwn("lock file", path, os.O_CREATE|os.O_RDWR)
		expectRefusal(t, name, err, want)
		expect.That(t, f == nil, "%s was opened", name)
		expectRefusal(t, name+", by its path", CheckOwn("lock file", path), want)
	}
	if text, _ := os.ReadFile(victim); string(text) != "text\n" {
		t.Errorf("the target of the link contains %q", text)
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file was created at the target of a link")
	}
	must.Do(t, CheckOwn("journal", filepath.Join(dir, "missing")))
	f, err := OpenOwn("lock file", filepath.Join(dir, "new"), os.O_CREATE|os.O_RDWR)
	must.Do(t, err)
	if info, err := f.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	must.Do(t, f.Close())
}

// Kubernetes mounts the key of a secret as a link to ..data/key, and ..data as a link to
// the directory of the newest version.
func TestMountedSecretsAreReadThroughTheirLinks(t *testing.T) {
	dir := t.TempDir()
	version := makeFile(t, filepath.Join(dir, "..2026_11_22_10_00_00.1"), fs.ModeDir|0o755)
	secret := makeFile(t, filepath.Join(version, "uri"), 0o400)
	must.Do(t, os.Symlink(filepath.Base(version), filepath.Join(dir, "..data")))
	must.Do(t, os.Symlink("..data/uri", filepath.Join(dir, "uri")))
	if text, err := ReadSecret("file", filepath.Join(dir, "uri"), 10); err != nil || string(text) != "text\n" {
		t.Errorf("unexpected content %q, error %v", text, err)
	}
	must.Do(t, os.Chmod(secret, 0o644))
	_, err := ReadSecret("file", filepath.Join(dir, "uri"), 10)
	expectRefusal(t, "as mounted by default", err, "defaultMode: 0440")
}

func TestPipesAndDevicesAreRead(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer r.Close()
	_, err = w.WriteString("from a command")
	must.Do(t, errors.Join(err, w.Close()))
	fd := "/dev/fd/" + strconv.Itoa(int(r.Fd()))
	if _, err := os.Stat(fd); err != nil {
		t.Skip("no /dev/fd")
	}
	if text, err := ReadSecret("file", fd, 100); err != nil || string(text) != "from a command" {
		t.Errorf("unexpected content %q, error %v", text, err)
	}
	if text, err := ReadSecret("file", "/dev/null", 100); err != nil || len(text) != 0 {
		t.Errorf("unexpected content %q, error %v", text, err)
	}
}

func TestReadsAreBoundedAndErrorsNameTheFile(t *testing.T) {
	path := makeFile(t, filepath.Join(t.TempDir(), "f"), 0o600)
	expect.NoError(t, must.Err(ReadSecret("file", path, 5)), "ReadSecret")
	_, err := ReadSecret("file", path, 4)
	expectRefusal(t, "too long", err, path+", cannot be read: it has more than 4 bytes")
	_, err = ReadPublic("certificate", path+".none", 4)
	expectRefusal(t, "missing", err, "The certificate, "+path+".none, cannot be read: no such file or directory.")
	expect.That(t, errors.Is(err, fs.ErrNotExist), "the error does not wrap its cause")
	c, err := ReadFile("alerts file", path, 5)
	must.Do(t, errors.Join(err, c.Secret()))
	must.Do(t, os.Chmod(path, 0o644))
	c, err = ReadFile("alerts file", path, 5)
	must.Do(t, err)
	expectRefusal(t, "turned out to be a secret", c.Secret(), "chmod 600")
	must.Do(t, os.Chmod(path, 0o646))
	_, err = ReadPublic("certificate", path, 5)
	expectRefusal(t, "written by others", err, "chmod go-w")
	if f, err := OpenPublic("list", path); fault.Of(err) != fault.Invalid || f != nil {
		t.Error(err)
	}
}

// Files of other users can only be created by root, with chown.
func TestOtherUsersFilesAreRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can change owners; the rules are tested by TestTheDataDirectoryMustBePrivate and others")
	}
	top := t.TempDir()
	give := func(path string, uid int) string {
		must.Do(t, os.Lchown(path, uid, uid))
		return path
	}
	eves := give(makeFile(t, filepath.Join(top, "eves"), fs.ModeDir|0o755), 2000)
	_, err := OwnDir("data directory", eves)
	expectRefusal(t, "her directory", err, "owner uid 2000")
	must.Do(t, os.Mkdir(filepath.Join(eves, "in"), 0o700))
	_, err = OwnDir("data directory", give(filepath.Join(eves, "in"), 2000))
	expectRefusal(t, "her directory in hers", err, "Run shardboard as its owner")
	makeFile(t, filepath.Join(eves, "ours"), fs.ModeDir|0o700)
	_, err = OwnDir("data directory", filepath.Join(eves, "ours"))
	expectRefusal(t, "ours in hers", err, "belongs to another user")
	must.Do(t, os.Symlink(makeFile(t, filepath.Join(top, "real"), fs.ModeDir|0o700), filepath.Join(top, "link")))
	give(filepath.Join(top, "link"), 2000)
	_, err = OwnDir("data directory", filepath.Join(top, "link", "sub"))
	expectRefusal(t, "her link", err, "point it elsewhere")
	secret := give(makeFile(t, filepath.Join(top, "secret"), 0o600), 2000)
	_, err = ReadSecret("file", secret, 10)
	expectRefusal(t, "her secret", err, "chown 0 ")
	expectRefusal(t, "her database", CheckOwn("database", secret), "chown 0 ")
	expect.NoError(t, must.Err(ReadAnyOwner("profile", secret, 10)), "her profile")
	d, err := ReadDir("data directory", eves)
	must.Do(t, err)
	for name, uid := range map[string]int{"hers": 2000, "roots": 0} {
		must.Do(t, CheckRead("database", give(makeFile(t, filepath.Join(eves, name), 0o600), uid), d))
	}
	third := give(makeFile(t, filepath.Join(eves, "third"), 0o600), 2001)
	expectRefusal(t, "a third user's, only read", CheckRead("database", third, d), "another user")
}

func TestAReplacedFileIsNoticed(t *testing.T) {
	dir := t.TempDir()
	path := makeFile(t, filepath.Join(dir, "a"), 0o600)
	was, err := os.Lstat(path)
	must.Do(t, err)
	must.Do(t, Same("database", path, was))
	must.Do(t, os.Rename(makeFile(t, filepath.Join(dir, "b"), 0o600), path))
	expectRefusal(t, "replaced", Same("database", path, was), "was replaced")
}
