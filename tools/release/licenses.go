package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// module is a part of the program that others wrote, with its licence.
type module struct {
	path, version, sum string
	spdx               []string // SPDX identifiers of its licences
	texts              []string
}

// standardLibrary is the name that vulnerability databases have for what comes with Go.
const standardLibrary = "stdlib"

// licenseFile are the usual names of a licence's text. Notices have to be passed on too.
var licenseFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// allowed are the licences under which a program that contains the module may be passed on with its authors named.
// MPL-2.0 also wants to be told where the module's source is.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "Unlicense", "CC0-1.0"}

// readLicenses reads the licence of each module of a binary from the module cache. A module without a licence that
// is known and allowed is an error: it must not be released.
func readLicenses(info *debug.BuildInfo) ([]module, error) {
	dirs, err := moduleDirs(info)
	if err != nil {
		return nil, err
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	modules := []module{{path: standardLibrary, version: strings.TrimPrefix(info.GoVersion, "go")}}
	folders := []string{strings.TrimSpace(string(goroot))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced: what is released has to be what its name says", m.Path)
		}
		modules = append(modules, module{path: m.Path, version: m.Version, sum: m.Sum})
		folders = append(folders, dirs[m.Path])
	}
	for i := range modules {
		if err := modules[i].read(folders[i]); err != nil {
			return nil, fmt.Errorf("licence of %s: %w", modules[i].path, err)
		}
	}
	return modules, nil
}

// moduleDirs are the folders of modules in the module cache, by path.
func moduleDirs(info *debug.BuildInfo) (map[string]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, m := range info.Deps {
		args = append(args, m.Path+"@"+m.Version)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("find the modules: %w", err)
	}
	dirs := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var m struct{ Path, Dir string }
		if err := dec.Decode(&m); err != nil {
			return nil, fmt.Errorf("find the modules: %w", err)
		}
		dirs[m.Path] = m.Dir
	}
	return dirs, nil
}

func (m *module) read(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.IsDir() || !licenseFile.MatchString(f.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		m.texts = append(m.texts, string(text))
		for _, match := range licensecheck.Scan(text).Match {
			if !slices.Contains(m.spdx, match.ID) {
				m.spdx = append(m.spdx, match.ID)
			}
		}
	}
	// Grants of patents come beside a licence, and add rights.
	m.spdx = slices.DeleteFunc(m.spdx, func(id string) bool { return id == "GooglePatentClause" || id == "GooglePatentsFile" })
	if len(m.spdx) == 0 {
		return errors.New("none was found")
	}
	for _, id := range m.spdx {
		if !slices.Contains(allowed, id) {
			return fmt.Errorf("%s is not among the licences that may be passed on: %v", id, allowed)
		}
	}
	slices.Sort(m.spdx)
	return nil
}

// licenseText is the file that names all modules and has the texts of their licences.
func licenseText(modules []module) []byte {
	var b bytes.Buffer
	b.WriteString("shardboard contains the following work of others, unchanged. The sources of each are at the address that is its\n" +
		"name, in that version; those of stdlib are at go.dev.\n\n")
	for _, m := range modules {
		fmt.Fprintf(&b, "  %s %s (%s)\n", m.path, m.version, strings.Join(m.spdx, ", "))
	}
	for _, m := range modules {
		fmt.Fprintf(&b, "\n%s\n%s %s\n\n", strings.Repeat("=", 80), m.path, m.version)
		for _, text := range m.texts {
			b.WriteString(strings.TrimSpace(text) + "\n\n")
		}
	}
	return b.Bytes()
}
