package auth

import (
	"bufio"
	"bytes"
	"crypto/sha1" // the format of published lists; nothing is protected by it
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
)

const (
	leakedMaxLine   = 128      // longest line in bytes: 40 digits, a count, the line end
	leakedFullCheck = 16 << 20 // files up to this size are checked completely when opened
	leakedSamples   = 512      // and larger ones at this many places
)

// Leaked is a list of passwords that were leaked elsewhere. The file is never loaded: it has one
// SHA-1 hash a line in hexadecimal digits, in ascending order, optionally followed by ":" and a
// count. Passwords that are looked up do not leave this process. Safe for concurrent use.
type Leaked struct {
	file interface {
		io.ReaderAt
		io.Closer
	}
	path string
	size int64
}

// OpenLeaked opens a list until Close. A file that is not a sorted list of hashes, or that others
// can write, is fault.Invalid. Small files are checked completely, large ones at sampled places; a
// bad line elsewhere is found when a search reads it.
func OpenLeaked(path string) (*Leaked, error) {
	f, err := fileperm.OpenPublic("list of leaked passwords", path)
	if err != nil {
		return nil, err
	}
	l := &Leaked{file: f, path: path}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = fault.Wrap(fault.Invalid, err, "The list of leaked passwords, %s, cannot be read.", path)
	case !info.Mode().IsRegular():
		err = fault.New(fault.Invalid, "The list of leaked passwords, %s, is not a file.", path)
	case info.Size() == 0:
		err = fault.New(fault.Invalid, "The list of leaked passwords, %s, is empty.", path)
	case info.Size() <= leakedFullCheck:
		l.size = info.Size()
		err = l.checkAllLines()
	default:
		l.size = info.Size()
		err = l.checkSampledLines()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// Close closes the file; the list cannot be used afterwards.
func (l *Leaked) Close() error { return l.file.Close() }

// Has reports whether the list has a password. It is a binary search, some forty reads in the
// largest list. A bad line is fault.Unavailable: the answer is unknown, and the password must be
// rejected.
func (l *Leaked) Has(password string) (bool, error) {
	sum := sha1.Sum([]byte(password))
	var least, most []byte // hashes around the remaining range
	for from, to := int64(0), l.size; from < to; {
		start, end, hash, err := l.lineAt(from + (to-from)/2)
		if err == nil && (least != nil && bytes.Compare(hash, least) < 0 || most != nil && bytes.Compare(hash, most) > 0) {
			err = errOrder
		}
		if err != nil {
			return false, fault.Wrap(fault.Unavailable, fmt.Errorf("list of leaked passwords, %s, at byte %d: %w", l.path, start, err),
				"Passwords cannot be set now: the list of leaked passwords cannot be used. The log has the cause.")
		}
		switch bytes.Compare(sum[:], hash) {
		case 0:
			return true, nil
		case -1:
			to, most = start, hash
		default:
			from, least = end, hash
		}
	}
	return false, nil
}

var (
	errOrder = errors.New("it is smaller than the line before, and the list has to be sorted by hash")
	errLine  = errors.New("it is not 40 hexadecimal digits, with or without a colon and a count")
)

// lineAt returns the line that contains the byte at an offset.
func (l *Leaked) lineAt(at int64) (start, end int64, hash []byte, err error) {
	var window [2 * leakedMaxLine]byte
	base := max(0, at-leakedMaxLine)
	n, err := l.file.ReadAt(window[:min(2*leakedMaxLine, l.size-base)], base)
	if err != nil && (!errors.Is(err, io.EOF) || base+int64(n) < l.size) {
		return at, at, nil, fmt.Errorf("read: %w", err)
	}
	text, i := window[:n], int(at-base)
	first := bytes.LastIndexByte(text[:i], '\n') + 1
	if first == 0 && base > 0 {
		return at, at, nil, errLine
	}
	last := bytes.IndexByte(text[i:], '\n')
	switch {
	case last >= 0:
		last += i + 1
	case base+int64(n) < l.size:
		return base + int64(first), at, nil, errLine
	default:
		last = n
	}
	hash, err = leakedHash(text[first:last])
	return base + int64(first), base + int64(last), hash, err
}

// leakedHash parses a line.
func leakedHash(line []byte) ([]byte, error) {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	digits, count, counted := bytes.Cut(line, []byte(":"))
	hash := make([]byte, sha1.Size)
	if len(digits) != hex.EncodedLen(sha1.Size) || counted && (len(count) == 0 || len(bytes.Trim(count, "0123456789")) > 0) {
		return nil, errLine
	}
	if _, err := hex.Decode(hash, digits); err != nil {
		return nil, errLine
	}
	return hash, nil
}

func (l *Leaked) checkAllLines() error {
	lines := bufio.NewScanner(bufio.NewReaderSize(io.NewSectionReader(l.file, 0, l.size), 1<<16))
	lines.Buffer(nil, leakedMaxLine)
	n := 0
	for before := []byte(nil); lines.Scan(); {
		n++
		hash, err := leakedHash(lines.Bytes())
		if err == nil && bytes.Compare(hash, before) < 0 {
			err = errOrder
		}
		if err != nil {
			return l.invalid(err, "line", int64(n))
		}
		before = hash
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = errLine
		}
		return l.invalid(err, "line", int64(n+1))
	}
	return nil
}

func (l *Leaked) checkSampledLines() error {
	var before []byte
	for i := range int64(leakedSamples + 1) {
		start, _, hash, err := l.lineAt(min(l.size*i/leakedSamples, l.size-1))
		if err == nil && bytes.Compare(hash, before) < 0 {
			err = errOrder
		}
		if err != nil {
			return l.invalid(err, "byte", start)
		}
		before = hash
	}
	return nil
}

func (l *Leaked) invalid(err error, unit string, at int64) error {
	return fault.Wrap(fault.Invalid, err, "The list of leaked passwords, %s, cannot be used: see %s %d; %v.", l.path, unit, at, err)
}
