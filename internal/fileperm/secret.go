package fileperm

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"shardboard/internal/fault"
)

// ReadSecret reads a file with a secret, of at most so many bytes. It rejects files that other
// users may read, by PostgreSQL's rule for keys: mode 0600 or less for our files, 0640 or less for
// root's, so that secrets mounted for a group by an orchestrator work. Links are followed, because
// secrets are mounted that way; the target is checked. Pipes, as from <(command), follow the same
// rule; terminals and other devices are not checked. what names the file in errors, which are
// fault.Invalid and never contain its text.
func ReadSecret(what, path string, most int64) ([]byte, error) {
	c, err := read(what, path, most, current().keepsSecret)
	return c.Text, err
}

// ReadPublic reads a file that everybody may read but only its owner or root may write, such as a
// certificate.
func ReadPublic(what, path string, most int64) ([]byte, error) {
	c, err := ReadFile(what, path, most)
	return c.Text, err
}

// ReadAnyOwner is ReadPublic for a file that may belong to another user, such as a file of a team's
// shared checkout.
func ReadAnyOwner(what, path string, most int64) ([]byte, error) {
	c, err := read(what, path, most, current().notWritten)
	return c.Text, err
}

// Content is a file's text with its permissions, for files that may turn out to contain a secret.
type Content struct {
	Text []byte
	what string
	e    entry
}

// ReadFile is ReadPublic for such files.
func ReadFile(what, path string, most int64) (Content, error) {
	return read(what, path, most, current().mayTrust)
}

// Secret applies the rule of ReadSecret.
func (c Content) Secret() error { return current().keepsSecret(c.what, c.e) }

// OpenPublic opens a file like ReadPublic and leaves it open.
func OpenPublic(what, path string) (*os.File, error) {
	f, _, err := open(what, path, current().mayTrust)
	return f, err
}

// open checks the open file before anything is read from it.
func open(what, path string, judge func(string, entry) error) (*os.File, entry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, entry{}, unreadable(what, path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, entry{}, errors.Join(unreadable(what, path, err), f.Close())
	}
	e := entryOf(path, info)
	if real, err := filepath.EvalSymlinks(path); err == nil && strings.HasPrefix(path, "/dev/") {
		e.path = real // in another shell /dev/stdin is another file
	}
	if err := judge(what, e); err != nil {
		return nil, e, errors.Join(err, f.Close())
	}
	return f, e, nil
}

func read(what, path string, most int64, judge func(string, entry) error) (Content, error) {
	f, e, err := open(what, path, judge)
	if err != nil {
		return Content{}, err
	}
	defer f.Close() // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	if err != nil {
		return Content{}, unreadable(what, path, err)
	}
	return Content{text, what, e}, nil
}

func unreadable(what, path string, err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err // without the path, which the sentence has already
	}
	return fault.Wrap(fault.Invalid, err, "The %s, %s, cannot be read: %v.", what, show(path), err)
}
