package main

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"shardboard/internal/fault"
)

// exportFiles are the files of an export. They are made in a directory beside their place and put there
// when they are complete, so an export that fails leaves nothing.
type exportFiles struct {
	to, work string
	names    []string // of the files, with slashes
	done     bool
}

// newExportFiles checks the place before anything is read.
func newExportFiles(to string) (*exportFiles, error) {
	switch entries, err := os.ReadDir(to); {
	case err == nil && len(entries) > 0:
		return nil, fault.New(fault.Conflict, "%s is not empty; choose another name.", to)
	case err == nil && strings.HasSuffix(to, ".zip"):
		return nil, fault.New(fault.Conflict, "%s is a directory; choose another name.", to)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fault.Wrap(fault.Conflict, err, "%s exists already; choose another name.", to)
	}
	work, err := os.MkdirTemp(filepath.Dir(to), ".shardboard-export-*") // mode 0700
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The export cannot be written beside %s: %v.", to, errors.Unwrap(err))
	}
	return &exportFiles{to: to, work: work}, nil
}

func (x *exportFiles) create(name string) (*os.File, error) {
	path := filepath.Join(x.work, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		x.names = append(x.names, name)
	}
	return f, err
}

// remove takes a file out that could not be written to its end.
func (x *exportFiles) remove(name string) {
	_ = os.Remove(filepath.Join(x.work, filepath.FromSlash(name)))
	x.names = slices.DeleteFunc(x.names, func(other string) bool { return other == name })
}

// finish writes the manifest and puts everything in its place.
func (x *exportFiles) finish(m *manifest) error {
	err := x.write(m)
	return fault.Wrap(fault.Unavailable, err, "The export cannot be written: %v.", err)
}

func (x *exportFiles) write(m *manifest) error {
	f, err := x.create("manifest.json")
	if err != nil {
		return err
	}
	out := json.NewEncoder(f)
	out.SetIndent("", "  ")
	if err := errors.Join(out.Encode(m), f.Close()); err != nil {
		return err
	}
	if strings.HasSuffix(x.to, ".zip") {
		if err := x.pack(m.Time); err != nil {
			return err
		}
		x.done = true
		return os.RemoveAll(x.work)
	}
	if err := os.Remove(x.to); err != nil && !errors.Is(err, fs.ErrNotExist) { // it was empty
		return err
	}
	if err := os.Rename(x.work, x.to); err != nil {
		return err
	}
	x.done = true
	return nil
}

// pack writes the ZIP file, and gives it its name when it is complete.
func (x *exportFiles) pack(time time.Time) error {
	path := filepath.Join(x.work, "export.zip")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	for _, name := range slices.Insert(slices.Clone(x.names[:len(x.names)-1]), 0, "manifest.json") {
		if err := x.packOne(z, name, time); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	if err := errors.Join(z.Close(), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(path, x.to) // unlike a rename it replaces nothing
}

func (x *exportFiles) packOne(z *zip.Writer, name string, time time.Time) error {
	from, err := os.Open(filepath.Join(x.work, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time})
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return err
}

// discard removes what was not put in its place.
func (x *exportFiles) discard() {
	if !x.done {
		_ = os.RemoveAll(x.work)
	}
}

// bothLines writes a list as JSON and CSV at once, and counts its items.
type bothLines struct {
	json *jsonLines
	csv  *csvLines
	rows *int
	cut  bool // there may be more
}

func (b *bothLines) most() int { return 0 }

func (b *bothLines) page(items []json.RawMessage) error {
	*b.rows += len(items)
	return errors.Join(b.json.page(items), b.csv.page(items))
}

func (b *bothLines) end(last listPage) error {
	b.cut = last.full
	return errors.Join(b.json.end(last), b.csv.end(last))
}
