package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
	"shardboard/internal/store"
	"shardboard/internal/store/keyfile"
)

// Witness is the path of a file outside the data directory that has the newest head. It reveals, at
// the next start, that somebody with write access to the data directory only cut the record
// together with its heads. Used by one goroutine.
type Witness string

// witnessMax bounds what is read; a head takes about 400 bytes.
const witnessMax = 1 << 16

// WitnessOf returns the witness file of a data directory beside a key: one key may serve several
// directories.
func WitnessOf(key, dataDir string) (Witness, error) {
	dir, err := keyfile.Resolve(dataDir)
	if err != nil {
		return "", fmt.Errorf("name witness: %w", err)
	}
	return witnessOf(key, dir), nil
}

// WitnessOfStore returns the witness file of a store that is not a directory, by its address without
// user and password.
func WitnessOfStore(key, address string) Witness { return witnessOf(key, address) }

func witnessOf(key, place string) Witness {
	sum := sha256.Sum256([]byte(place))
	return Witness(key + "." + hex.EncodeToString(sum[:4]) + ".head")
}

// WitnessesOf returns the existing witness files beside a key.
func WitnessesOf(key string) ([]Witness, error) {
	entries, err := os.ReadDir(filepath.Dir(key))
	if err != nil {
		return nil, fmt.Errorf("look for witnesses: %w", err)
	}
	var out []Witness
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), filepath.Base(key)+".")
		if sum, head := strings.CutSuffix(rest, ".head"); ours && head && len(sum) == 8 {
			out = append(out, Witness(filepath.Join(filepath.Dir(key), e.Name())))
		}
	}
	return out, nil
}

// witnessFile is the file's format.
type witnessFile struct {
	Seq       int64  `json:"seq"`
	Hash      []byte `json:"hash"`
	At        int64  `json:"at"` // milliseconds
	Key       []byte `json:"key"`
	Signature []byte `json:"signature"`
}

// Head returns the head in the file; nil when there is no file. It does not check the signature.
func (w Witness) Head() (*store.AuditHead, error) {
	if w == "" {
		return nil, nil
	}
	text, err := w.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if fault.Of(err) == fault.Invalid {
		return nil, err
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err,
			"The witness file %s cannot be read. Run this as the user that the server runs as, or check the file's rights.",
			string(w))
	}
	var n witnessFile
	err = json.Unmarshal(text, &n)
	if err == nil && (n.Seq < 1 || len(n.Hash) != sha256.Size) {
		err = errors.New("record number or hash is missing")
	}
	if err != nil {
		return nil, fault.Wrap(
			fault.Invalid,
			err,
			"The witness file %s is damaged: it does not hold a signed head. It shows nothing about the record any more; before you move it "+
				"away, find out who changed it and when.",
			string(w),
		)
	}
	return &store.AuditHead{Seq: n.Seq, Hash: n.Hash, At: time.UnixMilli(n.At).UTC(), Key: n.Key, Signature: n.Signature}, nil
}

// read follows no link and does not block on a pipe. The file may belong to another user: root can
// verify the record of a server that runs as another user.
func (w Witness) read() ([]byte, error) {
	f, err := os.OpenFile(string(w), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fileperm.CheckOwn("last audit head", string(w)) // returns an error that says what to do
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a file")
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, witnessMax))
}

// Save replaces the head atomically.
func (w Witness) Save(h store.AuditHead) error {
	if w == "" {
		return nil
	}
	text, err := json.Marshal(witnessFile{h.Seq, h.Hash, h.At.UnixMilli(), h.Key, h.Signature})
	if err != nil {
		return fmt.Errorf("encode head: %w", err)
	}
	path, _, err := fileperm.ParentDir("last audit head", string(w))
	if err != nil {
		return fmt.Errorf("keep head: %w", err)
	}
	next := path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep head: %w", err)
	}
	if err := keyfile.Create(next, append(text, '\n')); err != nil {
		return fmt.Errorf("keep head: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("keep head: %w", err)
	}
	return nil
}
