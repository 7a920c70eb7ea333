package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	code "modernc.org/sqlite/lib"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/store"
)

// result is an error with a result code, like those of the driver.
type result struct {
	code int
	text string
}

func (r result) Error() string { return fmt.Sprintf("%s (%d)", r.text, r.code) }
func (r result) Code() int     { return r.code }

func TestEachSQLiteErrorHasACauseAndRemedy(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		err   error
		probe error  // error of the disk probe
		free  uint64 // free bytes on the disk
		code  store.TroubleCode
		says  string
	}{
		"not a database": {err: result{26, "file is not a database"}, code: store.TroubleDamaged, says: "is not a database"},
		"corrupt":        {err: result{11, "malformed"}, code: store.TroubleDamaged, says: "is damaged"},
		"corrupt index":  {err: result{code.SQLITE_CORRUPT_INDEX, "malformed"}, code: store.TroubleDamaged, says: "is damaged"},
		"full":           {err: result{13, "full"}, free: mib, code: store.TroubleFull, says: "1.0 MiB of 10.0 GiB are free"},
		"a limit":        {err: result{13, "full"}, free: 9000 * mib, code: store.TroubleFull, says: "a limit for the size of files"},
		"quota": {err: result{code.SQLITE_IOERR_WRITE, "disk I/O error"}, probe: syscall.EDQUOT, code: store.TroubleQuota,
			says: "quota of user id 7"},
		"full while syncing": {err: result{code.SQLITE_IOERR_FSYNC, "disk I/O error"}, probe: syscall.ENOSPC, code: store.TroubleFull,
			says: "No space is left"},
		"broken disk": {err: result{code.SQLITE_IOERR_READ, "disk I/O error"}, probe: syscall.EIO, code: store.TroubleDevice,
			says: "reports errors"},
		"unknown i/o error": {err: result{10, "disk I/O error"}, code: store.TroubleDevice,
			says: "Reading or writing /data/shardboard.db failed"},
		"read-only disk": {err: result{8, "readonly"}, probe: syscall.EROFS, code: store.TroubleReadOnly, says: "mounted read-only"},
		"read-only file": {err: result{8, "readonly"}, probe: &fs.PathError{Path: "/data/shardboard.db", Err: syscall.EACCES},
			code: store.TroubleDenied, says: "chown -R 7 /data"},
		"moved away":     {err: result{code.SQLITE_READONLY_DBMOVED, "moved"}, code: store.TroubleGone, says: "was removed or replaced"},
		"cannot open":    {err: result{14, "unable to open"}, probe: syscall.ENOENT, code: store.TroubleGone, says: "no longer exists"},
		"too many files": {err: result{14, "unable to open"}, probe: syscall.EMFILE, code: store.TroubleFiles, says: "ulimit -n"},
		"busy":           {err: result{5, "locked"}, code: store.TroubleBusy, says: "fuser -v /data/shardboard.db"},
		"locked":         {err: result{6, "locked"}, code: store.TroubleBusy, says: "holds a lock"},
		"permission":     {err: result{3, "denied"}, code: store.TroubleDenied, says: "may not use"},
		"memory":         {err: result{7, "out of memory"}, code: store.TroubleMemory, says: "memory"},
		"no table": {err: result{1, "SQL logic error: no such table: main.runs"}, code: store.TroubleSchema,
			says: "The table main.runs is missing"},
		"no column": {err: result{1, "SQL logic error: no such column: stale"}, code: store.TroubleSchema,
			says: "The column stale is missing"},
		"no column to fill": {err: result{1, "SQL logic error: table sessions has no column named stale"}, code: store.TroubleSchema,
			says: "The column stale is missing"},
		"start, full": {err: &fs.PathError{Op: "write", Path: "/data/shardboard.lock", Err: syscall.ENOSPC},
			code: store.TroubleFull, says: "No space is left"},
		"start, read-only": {err: &fs.PathError{Op: "mkdir", Path: "/data", Err: syscall.EROFS}, code: store.TroubleReadOnly,
			says: "mounted read-only"},
		"start, forbidden": {err: &fs.PathError{Op: "open", Path: "/data/shardboard.lock", Err: syscall.EACCES},
			code: store.TroubleDenied, says: "may not use /data/shardboard.lock"},
		"start, files": {err: &fs.PathError{Op: "open", Path: "/data/shardboard.db", Err: syscall.EMFILE}, code: store.TroubleFiles,
			says: "limit of open files"},
		"start, a file": {err: &fs.PathError{Op: "mkdir", Path: "/data", Err: syscall.ENOTDIR}, code: store.TroubleDenied,
			says: "/data is not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile("/data/"+FileName, Options{})
			f.uid = 7
			f.probe = func(string) error { return c.probe }
			f.space = func(string) (uint64, uint64, error) { return c.free, 10 << 30, nil }
			err := f.failed(fmt.Errorf("some call: %w", c.err))
			expectTrouble(t, err, c.code, c.says)
			expect.That(t, errors.Is(err, c.err), "the technical cause is lost for the log")
			expect.That(t, !strings.Contains(fault.Text(err), "I/O error") && fault.Of(err) == fault.Unavailable, "%v", err)
		})
	}
}

// An invalid statement is a programming error and must not be reported as a broken disk.
func TestProgrammingErrorsAreNotReportedAsDiskTrouble(t *testing.T) {
	f := newFile("/data/"+FileName, Options{})
	for _, err := range []error{
		result{1, `SQL logic error: near "SELCT": syntax error`}, result{19, "constraint failed"}, result{21, "misuse"}, errors.New("anything"),
	} {
		refused.As(t, unavailable(f.failed(err)), fault.Internal, "%v became", err)
	}
	expect.That(t, f.now == nil, "unexpected trouble: %+v", f.now)
}
