package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestArchivesDoNotDependOnTheOrderOfTheirFiles(t *testing.T) {
	when := time.Unix(1_700_000_000, 0)
	files := []entry{{name: "a/", mode: 0o755}, {name: "a/b", mode: 0o644, data: []byte("1")}, {name: "a/c", mode: 0o755, data: []byte("2")}}
	one, err := gzipped(when, files)
	must(t, err)
	slices.Reverse(files)
	other, err := gzipped(when, files)
	must(t, err)
	if !bytes.Equal(one, other) {
		t.Error("the same files give two archives")
	}
	for _, h := range headers(t, one) {
		if !h.ModTime.Equal(when) || h.Uname != "" || h.Gname != "" || h.Uid != 0 || !h.AccessTime.IsZero() || !h.ChangeTime.IsZero() {
			t.Errorf("%+v", h)
		}
	}
}

// headers lists the entries of a compressed archive.
func headers(t *testing.T, archive []byte) (out []*tar.Header) {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(archive))
	must(t, err)
	if !zr.ModTime.IsZero() || zr.Name != "" {
		t.Errorf("gzip's header has a date or name: %+v", zr.Header)
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return out
		}
		must(t, err)
		out = append(out, h)
	}
}

func TestAModuleWithoutAKnownLicenceIsNotReleased(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"none":      {"README", "hello", "none was found"},
		"not known": {"LICENSE", "Do as you like, but only on Tuesdays.", "none was found"},
		"copyleft":  {"COPYING", gpl, "not among the licences"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600))
			if err := (&module{}).read(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// gpl is the notice that says a program is under the GNU General Public License.
const gpl = `This program is free software: you can redistribute it and/or modify
it under the terms of the GNU General Public License as published by
the Free Software Foundation, either version 3 of the License, or
(at your option) any later version.

This program is distributed in the hope that it will be useful,
but WITHOUT ANY WARRANTY; without even the implied warranty of
MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the
GNU General Public License for more details.

You should have received a copy of the GNU General Public License
along with this program.  If not, see <https://www.gnu.org/licenses/>.
`

// Helm takes semantic versions only, and a checkout without tags has none.
func TestTheChartHasTheVersionOfTheRelease(t *testing.T) {
	const chart = "name: shardboard\nversion: 0.1.0\nappVersion: \"dev\"\nkubeVersion: \">=1.25.0-0\"\n"
	for version, want := range map[string]string{
		"v1.2.3":            "version: 1.2.3\nappVersion: \"v1.2.3\"\n",
		"v1.2.3-4-gabcdef0": "version: 1.2.3-4-gabcdef0\nappVersion: \"v1.2.3-4-gabcdef0\"\n",
		"0123456-dirty":     "version: 0.0.0-g0123456-dirty\nappVersion: \"0123456-dirty\"\n",
	} {
		got, ok := release{version: version}.stampChart([]byte(chart))
		if !ok || string(got) != "name: shardboard\n"+want+"kubeVersion: \">=1.25.0-0\"\n" {
			t.Errorf("%s: %v\n%s", version, ok, got)
		}
	}
	if _, ok := (release{version: "v1.0.0"}).stampChart([]byte("name: shardboard\n")); ok {
		t.Error("a chart without versions is taken")
	}
}

func TestAVersionMustBeUsableInFileNames(t *testing.T) {
	for _, version := range []string{"", "v1/2", "a b", `x' -X main.y=z`} {
		if _, err := parse([]string{"-version", version}); err == nil {
			t.Errorf("%q was taken", version)
		}
	}
	if _, err := parse([]string{"-version", "v1.2.3", "-targets", "linux"}); err == nil {
		t.Error("a target without architecture was taken")
	}
}

// must ends the test at an error of its set-up.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
