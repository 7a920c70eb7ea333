package profile

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"regexp"

	"go.yaml.in/yaml/v3"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
)

// maxFile bounds a profile file; real ones have a few dozen lines.
const maxFile = 64 << 10

// Read reads a profile file; docs/profiles.md is its schema. The error is fault.Invalid, one line
// with file, line, field and problem.
func Read(path string) (*Profile, error) {
	data, err := fileperm.ReadAnyOwner("profile", path, maxFile)
	if cause := errors.Unwrap(err); cause != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The profile %s cannot be read: %v.", path, cause)
	}
	if err != nil { // rejected by fileperm, with the reason
		return nil, err
	}
	return Parse(filepath.Base(path), data)
}

// Parse parses the text of a profile file; file is its name in errors.
func Parse(file string, data []byte) (*Profile, error) {
	if len(data) > maxFile {
		return nil, fault.New(fault.Invalid, "%s: a profile has at most %d bytes.", file, maxFile)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, fault.New(fault.Invalid, "%s: the file is empty.", file)
	case err != nil:
		return nil, syntax(file, err)
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Invalid, "%s: there is more than one document in the file.", file)
	}
	if len(doc.Content) == 0 {
		return nil, fault.New(fault.Invalid, "%s: the file is empty.", file)
	}
	r := reader{file: file}
	p := r.profile(doc.Content[0])
	if r.err != nil {
		return nil, r.err
	}
	return p, nil
}

// yamlLine matches the parser's error position.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

func syntax(file string, err error) error {
	m := yamlLine.FindStringSubmatch(err.Error())
	switch {
	case m == nil:
		return fault.Wrap(fault.Invalid, err, "%s: this is not YAML.", file)
	case m[1] == "":
		return fault.Wrap(fault.Invalid, err, "%s: this is not YAML: %s.", file, m[2])
	}
	return fault.Wrap(fault.Invalid, err, "%s:%s: this is not YAML: %s.", file, m[1], m[2])
}
