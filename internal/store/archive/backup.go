package archive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/gzip"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// Backup writes a store into a new file that only this user can read. Others may write to the store
// meanwhile. A file that is not complete is removed.
func Backup(ctx context.Context, from store.RowStore, path, by string) (counts []Count, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fault.Wrap(fault.Conflict, err, "%s exists already. Name a new file.", path)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%s cannot be written.", path)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(path))
		}
	}()
	err = from.Snapshot(ctx, func(r store.RowReader) error {
		counts, err = writeAll(ctx, r, f, header{Format: formatName, Version: formatVersion, Made: time.Now().UTC(), By: by, Store: from.Place()})
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "%s cannot be written.", path)
	}
	return counts, f.Close()
}

// writer writes the lines of a backup.
type writer struct {
	out  io.Writer // the file and the checksum
	sum  hash.Hash
	text []byte // of the last line, whose space the next one uses
	err  error
}

func (w *writer) line(v any) {
	text, err := json.Marshal(v)
	w.write(text, errors.Join(w.err, err))
}

func (w *writer) row(row store.Row) {
	text, err := appendRow(w.text[:0], row)
	w.text = text
	w.write(text, errors.Join(w.err, err))
}

func (w *writer) write(text []byte, err error) {
	if w.err = err; err == nil {
		_, w.err = w.out.Write(append(text, '\n'))
	}
}

func writeAll(ctx context.Context, r store.RowReader, f io.Writer, h header) (counts []Count, err error) {
	zip, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	// Compressing takes about as long as reading, so it is done beside it.
	from, to := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(zip, from)
		done <- errors.Join(err, from.CloseWithError(err), zip.Close())
	}()
	buffer := bufio.NewWriterSize(to, 1<<20)
	w := &writer{sum: sha256.New()}
	w.out = io.MultiWriter(buffer, w.sum)
	counts, err = w.tables(ctx, r, h)
	err = errors.Join(err, buffer.Flush(), to.Close())
	return counts, errors.Join(err, <-done)
}

// tables writes all lines of a backup.
func (w *writer) tables(ctx context.Context, r store.RowReader, h header) (counts []Count, err error) {
	w.line(h)
	total := 0
	for _, t := range store.Tables() {
		n := 0
		w.line(lineOf(t))
		err := r.ReadRows(ctx, t, func(row store.Row) error {
			w.row(row)
			n++
			return w.err
		})
		if err != nil {
			return nil, err
		}
		counts, total = append(counts, Count{t.Name, n}), total+n
	}
	w.line(footer{Rows: total, SHA256: hex.EncodeToString(w.sum.Sum(nil))})
	return counts, w.err
}
