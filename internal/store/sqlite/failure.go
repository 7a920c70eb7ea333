package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"syscall"

	code "modernc.org/sqlite/lib"

	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

// coded is an error with a result code of SQLite.
type coded interface {
	error
	Code() int
}

// missingPart matches "no such table: runs" and "no such column: x".
var missingPart = regexp.MustCompile(`(?:no such (table|column): |has no (column) named )([^\s()]+)`)

// troubleOf explains what is wrong with the database file when a call fails with err; ok is false
// when the cause is not the file. It is the only place where result codes of SQLite and the system
// are translated.
func (f *file) troubleOf(err error) (t store.Trouble, ok bool) {
	var c coded
	if !errors.As(err, &c) {
		return f.systemTrouble(err)
	}
	switch c.Code() & 0xff {
	case code.SQLITE_NOTADB:
		return f.trouble(store.TroubleDamaged, "%s is not a database: it was overwritten, or cut off.", f.path), true
	case code.SQLITE_CORRUPT:
		return f.trouble(store.TroubleDamaged, "%s is damaged: parts of it are not as SQLite wrote them.", f.path), true
	case code.SQLITE_FULL:
		return f.noSpace(), true
	case code.SQLITE_BUSY, code.SQLITE_LOCKED, code.SQLITE_PROTOCOL:
		return f.trouble(store.TroubleBusy,
			"Another program holds a lock on %s, such as a sqlite3 shell or a backup inside a transaction.",
			f.path), true
	case code.SQLITE_READONLY:
		if c.Code() == code.SQLITE_READONLY_DBMOVED {
			return f.trouble(store.TroubleGone, "%s was removed or replaced while shardboard used it.", f.path), true
		}
		return f.probed(store.TroubleReadOnly, err), true
	case code.SQLITE_PERM, code.SQLITE_AUTH:
		return f.trouble(store.TroubleDenied, "shardboard (user id %d) may not use %s.", f.uid, f.path), true
	case code.SQLITE_CANTOPEN:
		return f.probed(store.TroubleGone, err), true
	case code.SQLITE_IOERR:
		return f.probed(store.TroubleDevice, err), true
	case code.SQLITE_NOMEM:
		return f.trouble(store.TroubleMemory, "The system gave shardboard no more memory for %s.", f.path), true
	case code.SQLITE_ERROR:
		if m := missingPart.FindStringSubmatch(c.Error()); m != nil {
			return f.missing(m[1]+m[2], m[3]), true
		}
	}
	return store.Trouble{}, false
}

// missing is the trouble of a file without a required table or column.
func (f *file) missing(what, name string) store.Trouble {
	return f.trouble(store.TroubleSchema, "The %s %s is missing in %s: another program has changed it, or it was restored in part.",
		what, sanitize.Line(sanitize.Shorten(name, 100)), f.path)
}

// systemTrouble explains a failed system call.
func (f *file) systemTrouble(err error) (store.Trouble, bool) {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EFBIG):
		return f.noSpace(), true
	case errors.Is(err, syscall.EDQUOT):
		return f.trouble(store.TroubleQuota, "The disk quota of user id %d is used up, so nothing can be written to %s.", f.uid, f.dir()), true
	case errors.Is(err, syscall.EROFS):
		return f.trouble(store.TroubleReadOnly, "The file system of %s is mounted read-only.", f.dir()), true
	case errors.Is(err, fs.ErrPermission):
		return f.trouble(store.TroubleDenied, "shardboard (user id %d) may not use %s.", f.uid, pathOf(err, f.path)), true
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return f.trouble(store.TroubleFiles, "The limit of open files is reached, so %s cannot be opened.", f.path), true
	case errors.Is(err, syscall.ENOTDIR):
		t := f.trouble(store.TroubleDenied, "%s is not a directory, so no data can be kept in it.", pathOf(err, f.dir()))
		t.Remedy = "Choose another directory with --data-dir, or move that file aside and start again."
		return t, true
	case errors.Is(err, syscall.EISDIR):
		return f.trouble(store.TroubleForeign, "%s is a directory, where the database should be.", pathOf(err, f.path)), true
	case errors.Is(err, fs.ErrNotExist):
		return f.trouble(store.TroubleGone, "%s no longer exists.", pathOf(err, f.path)), true
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.ESTALE), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return f.trouble(store.TroubleDevice, "The disk of %s reports errors.", f.dir()), true
	}
	return store.Trouble{}, false
}

// probed asks the system why SQLite could not use the file: SQLite's result does not distinguish a
// full quota from a broken disk.
func (f *file) probed(otherwise store.TroubleCode, err error) store.Trouble {
	if t, ok := f.systemTrouble(err); ok {
		return t
	}
	if t, ok := f.systemTrouble(f.probe(f.path)); ok {
		return t
	}
	switch otherwise {
	case store.TroubleReadOnly:
		return f.trouble(otherwise, "%s cannot be written.", f.path)
	case store.TroubleGone:
		return f.trouble(otherwise, "%s cannot be opened.", f.path)
	}
	return f.trouble(otherwise, "Reading or writing %s failed.", f.path)
}

// noSpace says how much space is left, because a limit other than the disk's may have been reached.
func (f *file) noSpace() store.Trouble {
	free, size, err := f.space(f.dir())
	switch {
	case err != nil:
		return f.trouble(store.TroubleFull, "No space is left for %s.", f.path)
	case free > spare:
		return f.trouble(store.TroubleFull,
			"%s cannot grow, although %s of %s are free on its disk: a limit for the size of files, or of the database, is reached.",
			f.path, bytesText(free), bytesText(size))
	}
	return f.trouble(store.TroubleFull, "No space is left for %s: %s of %s are free on its disk.", f.path, bytesText(free), bytesText(size))
}

// spare is more free space than any single write needs.
const spare = 64 << 20

func (f *file) dir() string { return filepath.Dir(f.path) }

func (f *file) trouble(c store.TroubleCode, format string, args ...any) store.Trouble {
	return store.Trouble{Code: c, Cause: fmt.Sprintf(format, args...), Remedy: f.remedy(c)}
}

// pathOf is the path of a failed system call.
func pathOf(err error, otherwise string) string {
	var p *fs.PathError
	if errors.As(err, &p) && filepath.IsAbs(p.Path) {
		return p.Path
	}
	return otherwise
}
