package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file or, with a name that ends in a slash, a directory of an archive.
type entry struct {
	name string
	mode int64
	uid  int
	data []byte
}

// writeTar writes entries in the order of their names, all with the same date and without names of users, so that
// equal entries give equal bytes.
func writeTar(w io.Writer, when time.Time, entries []entry) error {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	tw := tar.NewWriter(w)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.uid, Gid: e.uid, ModTime: when, Format: tar.FormatPAX, Typeflag: tar.TypeReg}
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		} else {
			h.Size = int64(len(e.data))
		}
		if err := tw.WriteHeader(h); err != nil {
			return fmt.Errorf("archive %s: %w", e.name, err)
		}
		if _, err := tw.Write(e.data); err != nil {
			return fmt.Errorf("archive %s: %w", e.name, err)
		}
	}
	return tw.Close()
}

// gzipped is a compressed tar file. gzip's own header has neither name nor date.
func gzipped(when time.Time, entries []entry) ([]byte, error) {
	var out bytes.Buffer
	zw, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := writeTar(zw, when, entries); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// name is the name of what is made for a target, without an ending.
func (r release) name(t target) string {
	return fmt.Sprintf("shardboard_%s_%s_%s", strings.TrimPrefix(r.version, "v"), t.os, t.arch)
}

// pack writes the archive of a binary and its bill of materials, and returns their paths.
func (r release) pack(b binary, extras []entry) ([]string, error) {
	licenses, err := readLicenses(b.info)
	if err != nil {
		return nil, err
	}
	bill, err := r.billOfMaterials(b, licenses)
	if err != nil {
		return nil, err
	}
	program, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	dir := r.name(b.target) + "/"
	entries := []entry{
		{name: dir, mode: 0o755},
		{name: dir + "shardboard", mode: 0o755, data: program},
		{name: dir + "THIRD-PARTY-LICENSES", mode: 0o644, data: licenseText(licenses)},
	}
	for _, e := range extras {
		if b.target.os != "linux" && strings.HasPrefix(e.name, "systemd/") {
			continue
		}
		e.name = dir + e.name
		entries = append(entries, e)
	}
	archive, err := gzipped(r.time, entries)
	if err != nil {
		return nil, err
	}
	files := []string{filepath.Join(r.out, r.name(b.target)+".tar.gz"), filepath.Join(r.out, r.name(b.target)+".cdx.json")}
	for i, data := range [][]byte{archive, bill} {
		if err := os.WriteFile(files[i], data, 0o644); err != nil {
			return nil, err
		}
	}
	return files, nil
}
