package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func expectRefusal(t *testing.T, name string, db *DB, err error, want string) {
	t.Helper()
	if err == nil {
		_ = db.Close()
	}
	expect.That(t, fault.Of(err) == fault.Invalid && strings.Contains(fault.Text(err), want),
		"%s: found %v, expected a refusal with %q", name, err, want)
}

// directoryWithUser returns a data directory with one user.
func directoryWithUser(t *testing.T, dir, user string) string {
	t.Helper()
	db, err := Open(t.Context(), dir)
	must.Do(t, err)
	if err := errors.Join(db.CreateUser(t.Context(), store.User{ID: user, Name: user, Role: "admin"},
		store.AuditEntry{What: "user.created"}), db.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Another user replaces the database by one with her own admin.
func TestADirectoryWritableByOthersIsRefused(t *testing.T) {
	dir := directoryWithUser(t, filepath.Join(t.TempDir(), "data"), "anna")
	must.Do(t, os.Chmod(dir, 0o777))
	eves := directoryWithUser(t, filepath.Join(t.TempDir(), "data"), "eve")
	must.Do(t, os.Rename(filepath.Join(eves, FileName), filepath.Join(dir, FileName)))
	db, err := Open(t.Context(), dir)
	expectRefusal(t, "0777", db, err, "chmod 700 "+dir)
	db, err = OpenReader(t.Context(), dir)
	expectRefusal(t, "0777, to read", db, err, "chmod 700 "+dir)
	if os.Geteuid() != 0 {
		return // only root can change the owner of files
	}
	for _, name := range []string{FileName, FileName + "-wal", FileName + "-shm", FileName + "-journal", lockName} {
		dir := directoryWithUser(t, filepath.Join(t.TempDir(), "data"), "anna")
		path := filepath.Join(dir, name)
		must.Do(t, errors.Join(os.WriteFile(path, []byte("eve's"), 0o600), os.Chown(path, 2000, 2000)))
		db, err := Open(t.Context(), dir)
		expectRefusal(t, name+" of another user", db, err, "uid 2000")
	}
}

// Another user creates a link with the name of one of the files. Without the refusal the
// link's target would be truncated or written to by SQLite.
func TestLinkedFilesAreRefusedAndTheirTargetsKept(t *testing.T) {
	for _, name := range []string{lockName, FileName, FileName + "-wal", FileName + "-shm", FileName + "-journal"} {
		for kind, link := range map[string]func(string, string) error{"is a link": os.Symlink, "has 2 names": os.Link} {
			top := t.TempDir()
			victim, dir := filepath.Join(top, "victim"), filepath.Join(top, "data")
			if err := errors.Join(os.WriteFile(victim, []byte("important"), 0o600), os.Mkdir(dir, 0o700),
				link(victim, filepath.Join(dir, name))); err != nil {
				t.Fatal(err)
			}
			db, err := Open(t.Context(), dir)
			expectRefusal(t, name, db, err, kind)
			if text, _ := os.ReadFile(victim); string(text) != "important" {
				t.Errorf("%s (%s): the link's target now contains %q", name, kind, text)
			}
		}
	}
}

func TestADirectoryThatIsALinkIsRefused(t *testing.T) {
	top := t.TempDir()
	directoryWithUser(t, filepath.Join(top, "real"), "anna")
	must.Do(t, os.Symlink("real", filepath.Join(top, "link")))
	db, err := Open(t.Context(), filepath.Join(top, "link")+"/")
	expectRefusal(t, "link", db, err, "Name the directory itself: "+filepath.Join(top, "real"))
	db, err = OpenReader(t.Context(), filepath.Join(top, "link"))
	expectRefusal(t, "link, to read", db, err, "Name the directory itself")
}

func TestAnOlderVersionsDirectoryIsMadePrivateAndUsed(t *testing.T) {
	dir := directoryWithUser(t, t.TempDir(), "anna")
	must.Do(t, errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Join(dir, FileName), 0o644)))
	db := open(t, dir)
	expect.NoError(t, must.Err(db.UserByName(t.Context(), "anna")), "UserByName")
	if notes := db.Notes(); len(notes) != 1 || !strings.Contains(notes[0], dir) || !strings.Contains(notes[0], "mode 0755") {
		t.Errorf("unexpected notes: %q", notes)
	}
	for _, path := range []string{dir, filepath.Join(dir, FileName)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: unexpected mode %v, error %v", path, info.Mode(), err)
		}
	}
}

// A copy is read as it is, even if others can read it or files have hard links.
func TestACopyIsReadUnchanged(t *testing.T) {
	dir := directoryWithUser(t, t.TempDir(), "anna")
	must.Do(t, errors.Join(os.Chmod(dir, 0o755), os.Link(filepath.Join(dir, FileName), filepath.Join(t.TempDir(), "backup"))))
	db, err := OpenReader(t.Context(), dir)
	must.Do(t, err)
	expect.NoError(t, must.Err(db.UserByName(t.Context(), "anna")), "UserByName")
	expect.NoError(t, db.Close(), "Close")
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o755 {
		t.Error(info.Mode())
	}
	if _, err := OpenReader(t.Context(), filepath.Join(dir, "none")); fault.Of(err) != fault.NotFound || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
