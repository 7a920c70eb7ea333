package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	chartVersion    = regexp.MustCompile(`(?m)^version: .*$`)
	chartAppVersion = regexp.MustCompile(`(?m)^appVersion: .*$`)
	semantic        = regexp.MustCompile(`^\d+\.\d+\.\d+([-+]|$)`)
)

// packChart writes the Helm chart as `helm package` does, with this version: it installs the image of this release.
func (r release) packChart() (string, error) {
	entries, err := r.tree("deploy/helm/shardboard", "shardboard/", "")
	if err != nil {
		return "", err
	}
	stamped := false
	for i, e := range entries {
		if e.name == "shardboard/Chart.yaml" {
			entries[i].data, stamped = r.stampChart(e.data)
		}
	}
	if !stamped {
		return "", errors.New("the chart has no version to replace")
	}
	archive, err := gzipped(r.time, entries)
	if err != nil {
		return "", err
	}
	file := filepath.Join(r.out, fmt.Sprintf("shardboard_%s_chart.tgz", strings.TrimPrefix(r.version, "v")))
	return file, os.WriteFile(file, archive, 0o644)
}

// stampChart replaces the versions in a Chart.yaml. Helm takes semantic versions only; a checkout without tags has
// none.
func (r release) stampChart(text []byte) ([]byte, bool) {
	version := strings.TrimPrefix(r.version, "v")
	if !semantic.MatchString(version) {
		version = "0.0.0-g" + version
	}
	found := chartVersion.Match(text) && chartAppVersion.Match(text)
	text = chartVersion.ReplaceAll(text, fmt.Appendf(nil, "version: %s", version))
	return chartAppVersion.ReplaceAll(text, fmt.Appendf(nil, "appVersion: %q", r.version)), found
}

// tree are the files below a folder of the checkout whose names end as given, below another folder in an archive.
func (r release) tree(folder, to, ending string) (out []entry, err error) {
	root := filepath.Join(r.source, folder)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ending) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		out = append(out, entry{name: to + filepath.ToSlash(name), mode: 0o644, data: data})
		return err
	})
	return out, err
}
