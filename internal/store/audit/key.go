package audit

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

// OpenKey reads the key that signs heads, or creates it when the file does not exist. It rejects a
// file inside the data directory, because whoever can rewrite the record there could also sign it,
// a file that others can read, and one in a directory where others could replace it.
func OpenKey(path, dataDir string) (ed25519.PrivateKey, error) {
	if err := outside(path, dataDir); err != nil {
		return nil, err
	}
	real, _, err := fileperm.ParentDir("audit key", path)
	if err != nil {
		return nil, keyFailure(err, path)
	}
	key, err := readKey(real)
	if errors.Is(err, fs.ErrNotExist) {
		if err = createKey(real); err == nil || errors.Is(err, fs.ErrExist) { // another process may have created it at the same time
			key, err = readKey(real)
		}
	}
	return key, keyFailure(err, path)
}

// outside rejects a key inside of the data directory; "" is a store elsewhere, which has none.
func outside(path, dataDir string) error {
	if dataDir == "" {
		return nil
	}
	switch in, err := inside(path, dataDir); {
	case err != nil:
		return fault.Wrap(fault.Invalid, err, "The audit key's path %s cannot be resolved.", path)
	case in:
		return fault.New(
			fault.Invalid,
			"The audit key %s is inside the data directory %s: whoever changes the record there could sign it too. Keep it elsewhere with "+
				"--audit-key.",
			path,
			dataDir,
		)
	}
	return nil
}

// keyFailure keeps an error that already has a sentence; any other comes from the system.
func keyFailure(err error, path string) error {
	var said *fault.Error
	if err == nil || errors.As(err, &said) {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "The audit key %s can be neither read nor created. Choose another path with --audit-key.", path)
}

func readKey(path string) (ed25519.PrivateKey, error) {
	f, err := fileperm.OpenOwn("audit key", path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fault.New(
			fault.Invalid,
			"The audit key %s can be read or written by others (mode %04o). Run chmod 600 %s. If others may have read it, remove the file: a "+
				"new key is made at the next start.",
			path,
			info.Mode().Perm(),
			fileperm.Quote(path),
		)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return nil, err
	}
	return parseKey(text, path)
}

// ReadKey reads a key that is given to several replicas, such as a mounted secret. It may belong to
// another user, but nobody else may read it.
func ReadKey(path string) (ed25519.PrivateKey, error) {
	text, err := fileperm.ReadSecret("audit key", path, maxKeyFile)
	if err != nil {
		return nil, err
	}
	return parseKey(text, path)
}

func parseKey(text []byte, path string) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType {
		return nil, fault.New(fault.Invalid, "The audit key %s is not a PEM file with a %s.", path, strings.ToLower(pemType))
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fault.New(fault.Invalid, "The audit key %s is not an ed25519 key.", path)
	}
	return key, nil
}

func createKey(path string) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	return writeKey(path, key)
}

func writeKey(path string, key ed25519.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode key: %w", err)
	}
	return createFile(path, pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}))
}

// createFile creates a file that must not exist; it is on disk when writeNew returns.
func createFile(path string, text []byte) error {
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
	p, err := resolve(path)
	if err != nil {
		return false, err
	}
	d, err := resolve(dir)
	if err != nil {
		return false, err
	}
	rel, err := filepath.Rel(d, p)
	if err != nil {
		return false, nil // on another volume
	}
	return rel == "." || rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)), nil
}

// resolve follows the links in the part of a path that exists.
func resolve(path string) (string, error) {
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
