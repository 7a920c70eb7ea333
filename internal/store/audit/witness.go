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
	"time"

	"shardboard/internal/fileperm"
	"shardboard/internal/store"
)

const maxWitness = 64 << 10 // bytes; one head has some hundred

// Witness is a file outside the data directory that holds the newest head. A
// thief of the data directory who cuts the record and the heads in it is found
// at the next start. Used by one goroutine.
type Witness string

// WitnessOf is the witness of a data directory beside a key: one key may serve
// several directories.
func WitnessOf(key, dataDir string) (Witness, error) {
	dir, err := resolve(dataDir)
	if err != nil {
		return "", fmt.Errorf("name witness: %w", err)
	}
	sum := sha256.Sum256([]byte(dir))
	return Witness(key + "." + hex.EncodeToString(sum[:4]) + ".head"), nil
}

// noted is the file's form.
type noted struct {
	Seq       int64  `json:"seq"`
	Hash      []byte `json:"hash"`
	At        int64  `json:"at"` // milliseconds
	Key       []byte `json:"key"`
	Signature []byte `json:"signature"`
}

// Head is what the witness saw; nil when it saw nothing yet.
func (w Witness) Head() (*store.AuditHead, error) {
	if w == "" {
		return nil, nil
	}
	f, err := fileperm.OpenOwn("last audit head", string(w), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read last head: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, maxWitness))
	if err != nil {
		return nil, fmt.Errorf("read last head: %w", err)
	}
	var n noted
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("read last head %s: %w", string(w), err)
	}
	return &store.AuditHead{Seq: n.Seq, Hash: n.Hash, At: time.UnixMilli(n.At).UTC(), Key: n.Key, Signature: n.Signature}, nil
}

// Save replaces the head, whole or not at all.
func (w Witness) Save(h store.AuditHead) error {
	if w == "" {
		return nil
	}
	text, err := json.Marshal(noted{h.Seq, h.Hash, h.At.UnixMilli(), h.Key, h.Signature})
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
	if err := writeNew(next, append(text, '\n')); err != nil {
		return fmt.Errorf("keep head: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("keep head: %w", err)
	}
	return nil
}
