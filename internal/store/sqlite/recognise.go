package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"shardboard/internal/fileperm"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

// applicationID ("shbd") marks a database as shardboard's. It is in the header, where file(1) and
// other programs find it.
const applicationID = 0x73686264

// magic begins every SQLite database (https://www.sqlite.org/fileformat.html).
const magic = "SQLite format 3\x00"

// recognise checks whose file it is before anything is opened, created or changed, because a file
// of another program must stay as it is. isNew is true when there is no file yet.
func (f *file) recognise(ctx context.Context) (isNew bool, err error) {
	if f.alreadyOpen {
		return false, f.checkWAL()
	}
	head, err := readHead(f.path, 100)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(head) == 0:
		return true, f.checkWAL()
	case err != nil:
		return false, f.failed(err)
	case len(head) < 100 || string(head[:len(magic)]) != magic:
		return false, f.refuse(
			f.trouble(store.TroubleDamaged, "%s is not a database: it does not begin as one (%s).", f.path,
				sanitize.Line(fmt.Sprintf("%q", head[:min(len(head), 16)]))),
		)
	}
	user, id := binary.BigEndian.Uint32(head[60:]), binary.BigEndian.Uint32(head[68:])
	switch id {
	case applicationID:
	case 0:
		if err := f.foreignTables(ctx, user); err != nil {
			return false, err
		}
	default:
		return false, f.refuse(f.trouble(store.TroubleForeign, "%s is a database of another program (application id %#x).", f.path, id))
	}
	return false, f.checkWAL()
}

// foreignTables examines a database without our mark: one of an older shardboard has our tables, an
// empty one may be used, any other belongs to another program.
func (f *file) foreignTables(ctx context.Context, user uint32) error {
	db, err := f.connect("ro", 1, func() error { return nil })
	if err != nil {
		return err
	}
	defer db.Close()
	found, err := columnsOf(ctx, db)
	if err != nil {
		return f.failed(err)
	}
	if _, ours := found["migrations"]; ours || len(found) == 0 && user == 0 {
		return nil
	}
	names := slices.Sorted(keys(found))
	if len(names) > 3 {
		names = append(names[:3], "…")
	}
	return f.refuse(
		f.trouble(store.TroubleForeign,
			"%s is a database of another program: it has the tables %s (user_version %d), and none of them is shardboard's.",
			f.path, sanitize.Line(fmt.Sprintf("%q", names)), user),
	)
}

// checkWAL checks the journal beside the database. SQLite treats one with an invalid header as
// empty and would silently lose all changes in it.
func (f *file) checkWAL() error {
	head, err := readHead(f.path+"-wal", 32)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return f.failed(err)
	case len(head) < 32 || !slices.ContainsFunc(head, func(b byte) bool { return b != 0 }):
		return nil // nothing had been written to disk yet
	}
	if m := binary.BigEndian.Uint32(head); m == 0x377f0682 || m == 0x377f0683 {
		return nil
	}
	t := f.trouble(store.TroubleDamaged,
		"%s-wal, the journal of the database, is damaged: the last changes are in it and cannot be read.", f.path)
	t.Remedy += fmt.Sprintf(" To go on without the changes in the journal, move it alone aside (mv %s %s).",
		fileperm.Quote(f.path+"-wal"), fileperm.Quote(f.path+"-wal.damaged"))
	return f.refuse(t)
}

// refuse reports a problem that was found without a failing call.
func (f *file) refuse(t store.Trouble) error {
	err := errors.New("found by examining the file")
	return f.meet(t, err).Failed(err)
}

// readHead reads the first bytes of a file.
func readHead(path string, n int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("look at the database: %w", err)
	}
	defer f.Close()
	head := make([]byte, n)
	got, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("look at the database: %w", err)
	}
	return head[:got], nil
}

// mark writes our application id, so that no other program takes the database for its own.
func mark(ctx context.Context, db *sql.DB) error {
	var id uint32
	if err := db.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&id); err != nil {
		return fmt.Errorf("read application id: %w", err)
	}
	if id == applicationID {
		return nil
	}
	if _, err := db.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID)); err != nil {
		return fmt.Errorf("set application id: %w", err)
	}
	return nil
}
