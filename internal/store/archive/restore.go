package archive

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/gzip"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// Checked is a backup that was read as a whole and is in order.
type Checked struct{ path, sum string }

// Check reads a whole backup and compares its checksum. It decodes the rows of accounts only, and Restore all: the
// checksum shows damage, and the others decide nothing about who may do what.
func Check(ctx context.Context, path string) (Checked, error) {
	r, err := openFile(path)
	if err != nil {
		return Checked{}, err
	}
	defer r.close()
	for _, t := range store.Tables() {
		var f func(store.Row) error
		if isOfAccounts(t) {
			f = func(store.Row) error { return nil }
		}
		if err := r.ReadRows(ctx, t, f); err != nil {
			return Checked{}, err
		}
	}
	sum, err := r.end()
	return Checked{path, sum}, err
}

// Restore loads a backup into an empty store.
func Restore(ctx context.Context, file Checked, to store.RowStore) ([]Count, error) {
	r, err := openFile(file.path)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return load(ctx, r, to, func() error {
		sum, err := r.end()
		if err == nil && sum != file.sum {
			err = fault.New(fault.Conflict, "%s was changed meanwhile.", file.path)
		}
		return err
	})
}

// Limits of a backup: a small file can be a long text. A row has 1 GB at most where it comes from.
const (
	maxLine = 3 << 29
	maxRows = 1 << 30
)

// fileReader reads the tables of a backup in their order.
type fileReader struct {
	path string
	file *os.File
	pipe *io.PipeReader // of the text
	done chan struct{}  // closed when nothing reads the file any more
	in   *bufio.Reader
	sum  hash.Hash
	next []byte // a line that was read ahead; nil: none
	rows int
}

func openFile(path string) (*fileReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%s cannot be read.", path)
	}
	zip, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return nil, errors.Join(badFile(path, err), f.Close())
	}
	text, unzipped := io.Pipe()
	r := &fileReader{path: path, file: f, pipe: text, done: make(chan struct{}), in: bufio.NewReaderSize(text, 1<<20), sum: sha256.New()}
	go func() { // beside what is done with the rows
		defer close(r.done)
		_, err := bufio.NewReaderSize(zip, 1<<20).WriteTo(unzipped)
		unzipped.CloseWithError(err) //nolint:errcheck // it never fails
	}()
	if err := r.header(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *fileReader) close() {
	r.pipe.Close() //nolint:errcheck // it never fails
	<-r.done
	r.file.Close() //nolint:errcheck // it was only read
}

func (r *fileReader) header() error {
	line, err := r.take()
	if err != nil {
		return err
	}
	var h header
	if err := json.Unmarshal(line, &h); err != nil || h.Format != formatName {
		return badFile(r.path, err)
	}
	if h.Version != formatVersion {
		return fault.New(fault.Conflict, "%s was written by another version of shardboard (%s) in a newer format. Restore it with that version.",
			r.path, h.By)
	}
	return nil
}

// line returns the next line.
func (r *fileReader) line() ([]byte, error) {
	if r.next != nil {
		line := r.next
		r.next = nil
		return line, nil
	}
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, badFile(r.path, errors.New("a line is too long"))
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, badFile(r.path, err)
		}
	}
}

// ReadRows reads the next table, which must be t. Without f its rows are not decoded.
func (r *fileReader) ReadRows(ctx context.Context, t store.Table, f func(store.Row) error) error {
	line, err := r.take()
	if err != nil {
		return err
	}
	var head tableLine
	if err := json.Unmarshal(line, &head); err != nil || head.Table == "" {
		return badFile(r.path, err)
	}
	if head.Table != t.Name || !slices.Equal(head.Columns, lineOf(t).Columns) {
		if _, err := io.Copy(io.Discard, r.in); err != nil { // gzip's checksum: it is damaged, not of another version
			return badFile(r.path, err)
		}
		return fault.New(fault.Conflict, "%s has other tables or columns than this version (%s). Restore it with the version that made it, "+
			"and upgrade then.", r.path, head.Table)
	}
	var row store.Row
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := r.line()
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(line, []byte("[")) {
			r.next = line
			return nil
		}
		r.sum.Write(line)
		if r.rows++; r.rows > maxRows {
			return badFile(r.path, errors.New("it has too many rows"))
		}
		if f == nil {
			continue
		}
		if row, err = decodeRow(t, line, row); err != nil {
			return badFile(r.path, fmt.Errorf("row %d of %s: %w", r.rows, t.Name, err))
		}
		if err := f(row); err != nil {
			return err
		}
	}
}

// take returns a line that belongs to the checksum.
func (r *fileReader) take() ([]byte, error) {
	line, err := r.line()
	if err == nil {
		r.sum.Write(line)
	}
	return line, err
}

// end compares the last line and returns the checksum.
func (r *fileReader) end() (sum string, err error) {
	line, err := r.line()
	if err != nil {
		return "", err
	}
	var f footer
	if err := json.Unmarshal(line, &f); err != nil {
		return "", badFile(r.path, err)
	}
	if sum = hex.EncodeToString(r.sum.Sum(nil)); f.SHA256 != sum || f.Rows != r.rows {
		return "", badFile(r.path, fmt.Errorf("the checksum is %s instead of %s", sum, f.SHA256))
	}
	if _, err := r.in.ReadByte(); !errors.Is(err, io.EOF) { // reads the checksum of gzip too
		return "", badFile(r.path, fmt.Errorf("more follows: %w", err))
	}
	return sum, nil
}
