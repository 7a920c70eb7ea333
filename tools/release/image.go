package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is the user that the container runs as. It has no name: the image has no /etc/passwd.
const user = 65532

type platformImage struct {
	target target
	image  v1.Image
}

// image is the container image of a binary: nothing but the program and the directories that it writes to. It is
// what Dockerfile makes; a test compares their settings.
func (r release) image(b binary) (v1.Image, error) {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	layer, err := gzipped(r.time, []entry{
		{name: "data/", mode: 0o700, uid: user},
		{name: "keys/", mode: 0o700, uid: user},
		{name: "shardboard", mode: 0o755, data: program},
		{name: "tmp/", mode: 0o700, uid: user},
	})
	if err != nil {
		return nil, err
	}
	content, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if img, err = mutate.Append(img, mutate.Addendum{Layer: content, History: v1.History{
		Created: v1.Time{Time: r.time}, CreatedBy: "release " + r.version}}); err != nil {
		return nil, err
	}
	file := &v1.ConfigFile{OS: b.target.os, Architecture: b.target.arch, Created: v1.Time{Time: r.time}}
	was, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file.RootFS, file.History, file.Config = was.RootFS, was.History, r.imageConfig()
	return mutate.ConfigFile(img, file)
}

func (r release) imageConfig() v1.Config {
	return v1.Config{
		User:         "65532:65532",
		Entrypoint:   []string{"/shardboard"},
		Cmd:          []string{"serve"},
		WorkingDir:   "/",
		Env:          []string{"SHARDBOARD_DATA_DIR=/data", "SHARDBOARD_AUDIT_KEY=/keys/audit.key"},
		Volumes:      map[string]struct{}{"/data": {}, "/keys": {}},
		ExposedPorts: map[string]struct{}{"8090/tcp": {}, "8091/tcp": {}},
		StopSignal:   "SIGTERM",
		Healthcheck: &v1.HealthConfig{
			Test:     []string{"CMD", "/shardboard", "healthcheck"},
			Interval: 15 * time.Second, Timeout: 3 * time.Second, StartPeriod: 10 * time.Second,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "shardboard",
			"org.opencontainers.image.description": "The dashboard for sharded MongoDB",
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.version":     r.version,
		},
	}
}

// writeImages writes one file with the images of all architectures in the OCI layout, which registry clients push.
func (r release) writeImages(images []platformImage) (string, error) {
	dir, err := os.MkdirTemp(r.out, "image")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range images {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: p.image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: p.target.os, Architecture: p.target.arch}}})
	}
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return "", err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.version})); err != nil {
		return "", err
	}
	entries, err := readTree(dir)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := writeTar(&out, r.time, entries); err != nil {
		return "", err
	}
	file := filepath.Join(r.out, "shardboard_"+strings.TrimPrefix(r.version, "v")+"_image.oci.tar")
	return file, os.WriteFile(file, out.Bytes(), 0o644)
}

func readTree(dir string) (entries []entry, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator)))
		if d.IsDir() {
			entries = append(entries, entry{name: name + "/", mode: 0o755})
			return nil
		}
		data, err := os.ReadFile(path)
		entries = append(entries, entry{name: name, mode: 0o644, data: data})
		return err
	})
	return entries, err
}
