// Package keyfile keeps keys in files outside of the data: the one that signs the audit record, and the one that seals
// sessions and approvals. A key is ed25519, as `openssl genpkey -algorithm ed25519` writes it.
package keyfile

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
)

// pemType is the type of the key file's PEM block. The key is PKCS #8, which other programs can
// read.
const pemType = "PRIVATE KEY"

const maxKeyFile = 1 << 16 // bytes

// Kind is what a key is for.
type Kind struct {
	Name string // such as "audit key"
	Flag string // that says where it is
	Why  string // it has to be outside the data directory
	Lost string // what removing the file does
}

// The keys of shardboard.
var (
	Audit = Kind{"audit key", "--audit-key", "whoever changes the record there could sign it too",
		"a new key is made at the next start"}
	Sessions = Kind{"session key", "--session-key", "whoever writes sessions there could seal them too",
		"a new key is made at the next start, and everybody signs in again"}
)

// Open reads a key, or creates it when the file does not exist. It rejects a file inside the data directory, one
// that others can read, and one in a directory where others could replace it.
func (k Kind) Open(path, dataDir string) (ed25519.PrivateKey, error) {
	if err := k.outside(path, dataDir); err != nil {
		return nil, err
	}
	real, _, err := fileperm.ParentDir(k.Name, path)
	if err != nil {
		return nil, k.failure(err, path)
	}
	key, err := k.readOwn(real)
	if errors.Is(err, fs.ErrNotExist) {
		if err = create(real); err == nil || errors.Is(err, fs.ErrExist) { // another process may have created it at the same time
			key, err = k.readOwn(real)
		}
	}
	return key, k.failure(err, path)
}

// outside rejects a key inside of the data directory; "" is a store elsewhere, which has none.
func (k Kind) outside(path, dataDir string) error {
	if dataDir == "" {
		return nil
	}
	switch in, err := inside(path, dataDir); {
	case err != nil:
		return fault.Wrap(fault.Invalid, err, "The %s's path %s cannot be resolved.", k.Name, path)
	case in:
		return fault.New(fault.Invalid, "The %s %s is inside the data directory %s: %s. Keep it elsewhere with %s.",
			k.Name, path, dataDir, k.Why, k.Flag)
	}
	return nil
}

// failure keeps an error that already has a sentence; any other comes from the system.
func (k Kind) failure(err error, path string) error {
	var said *fault.Error
	if err == nil || errors.As(err, &said) {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "The %s %s can be neither read nor created. Choose another path with %s.", k.Name, path, k.Flag)
}

func (k Kind) readOwn(path string) (ed25519.PrivateKey, error) {
	f, err := fileperm.OpenOwn(k.Name, path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fault.New(fault.Invalid,
			"The %s %s can be read or written by others (mode %04o). Run chmod 600 %s. If others may have read it, remove the file: %s.",
			k.Name, path, info.Mode().Perm(), fileperm.Quote(path), k.Lost)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return nil, err
	}
	return k.parse(text, path)
}

// Read reads a key that is given to several replicas, such as a mounted secret. It may belong to
// another user, but nobody else may read it.
func (k Kind) Read(path string) (ed25519.PrivateKey, error) {
	text, err := fileperm.ReadSecret(k.Name, path, maxKeyFile)
	if err != nil {
		return nil, err
	}
	return k.parse(text, path)
}

func (k Kind) parse(text []byte, path string) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType {
		return nil, fault.New(fault.Invalid, "The %s %s is not a PEM file with a %s.", k.Name, path, strings.ToLower(pemType))
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fault.New(fault.Invalid, "The %s %s is not an ed25519 key.", k.Name, path)
	}
	return key, nil
}

func create(path string) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode key: %w", err)
	}
	return Create(path, pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}))
}

// Create creates a file that must not exist; it is on disk when Create returns.
func Create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// inside reports whether path is in dir after links are followed. Neither needs to exist.
func inside(path, dir string) (bool, error) {
	if dir == "" {
		return false, nil
	}
	p, err := Resolve(path)
	if err != nil {
		return false, err
	}
	d, err := Resolve(dir)
	if err != nil {
		return false, err
	}
	rel, err := filepath.Rel(d, p)
	if err != nil {
		return false, nil // on another volume
	}
	return rel == "." || rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)), nil
}

// Resolve follows the links in the part of a path that exists.
func Resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return "", err
		}
		path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest)
	}
}
