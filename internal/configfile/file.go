// Package configfile reads the configuration file of serve: settings of the server, which are its flags
// without the dashes, and a list of clusters. It promises to name every mistake of a file at once, each
// with its line and what to write instead, and to take nothing that it does not know.
package configfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
)

// maxFile bounds a file. Fifty clusters with their roles have about 30 KiB.
const maxFile = 256 << 10

// MaxClusters is how many clusters one server watches.
const MaxClusters = 50

// File is a configuration file that has the right form. Values are not checked beyond their types.
type File struct {
	Name     string
	Settings []Setting // of the server, in the order of the file
	Clusters []Cluster
	problems []Problem
	content  fileperm.Content
}

// Setting is one key of the server's part.
type Setting struct {
	Key    string
	Line   int
	Values []string // of a list several, of a mapping "key=value"
}

// Cluster is one entry of clusters; zero fields were left out.
type Cluster struct {
	Line                                       int
	Name, Title, URI, URIFile, Profile, Alerts string
	Actions                                    *bool
	HideBounds                                 *bool
	Maintenance                                []string
	SeverityBounds                             []string
	ApprovalBytes                              string
	ApprovalChunks                             *int
	ApprovalKinds                              []string
	ApprovalWait                               *time.Duration
	ProjectSizes                               *int
	Roles                                      map[string]string
	lines                                      map[string]int
	roleLines                                  map[string]int
}

// RoleAt is the line of an entry of roles.
func (c Cluster) RoleAt(who string) int { return c.roleLines[who] }

// At is the line of a key of the cluster, or of the cluster if the key was left out.
func (c Cluster) At(key string) int {
	if n, ok := c.lines[key]; ok {
		return n
	}
	return c.Line
}

// Has tells whether a key was given.
func (c Cluster) Has(key string) bool { _, ok := c.lines[key]; return ok }

// Problem is one mistake.
type Problem struct {
	Line int
	Text string
}

// Add records a mistake that was found in the values.
func (f *File) Add(line int, format string, args ...any) {
	f.problems = append(f.problems, Problem{line, fmt.Sprintf(format, args...)})
}

// Err is all mistakes, by line; nil if there are none.
func (f *File) Err() error {
	if len(f.problems) == 0 {
		return nil
	}
	list := slices.Clone(f.problems)
	slices.SortStableFunc(list, func(a, b Problem) int { return a.Line - b.Line })
	lines := make([]string, len(list))
	for i, p := range list {
		lines[i] = fmt.Sprintf("%s:%d: %s", f.Name, p.Line, p.Text)
	}
	return &Problems{Lines: lines}
}

// Secret returns an error if others could read the file, which then must not hold a password.
func (f *File) Secret() error { return f.content.Secret() }

// Problems are the mistakes of a file, a line each.
type Problems struct{ Lines []string }

func (p *Problems) Error() string { return strings.Join(p.Lines, "\n") }

// Unwrap makes it invalid input with the first mistake as its sentence.
func (p *Problems) Unwrap() error { return fault.New(fault.Invalid, "%s", p.Lines[0]) }

// Read reads a file. Its settings must be among known. The error of a file that can be read is *Problems.
func Read(path string, known map[string]Kind) (*File, error) {
	content, err := fileperm.ReadFile("configuration", path, maxFile)
	if cause := errors.Unwrap(err); cause != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The configuration %s cannot be read: %v.", path, cause)
	}
	if err != nil {
		return nil, err
	}
	f := parse(path, content.Text, known)
	f.content = content
	return f, nil
}

func parse(name string, data []byte, known map[string]Kind) *File {
	f := &File{Name: name}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		f.Add(1, "the file is empty: write clusters: and a list, or the address of one cluster as uri:")
		return f
	case err != nil:
		f.Add(syntax(err))
		return f
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		f.Add(1, "there is more than one document in the file: remove the line ---")
	}
	r := reader{f}
	r.file(doc.Content[0], known)
	return f
}

// yamlLine matches the parser's error position.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

func syntax(err error) (line int, format string, text any) {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return 1, "this is not YAML: %v", err
	}
	line, _ = strconv.Atoi(m[1])
	return max(line, 1), "this is not YAML: %v", m[2]
}
