package shardboard_test

import (
	"bufio"
	"bytes"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"shardboard/internal/fixture/must"
)

// Limits of a line in characters, a tab counted as one. Comments are read as
// prose, which needs shorter lines than code.
const (
	longestLine    = 140
	longestComment = 120
	longestMarkup  = 320 // templ's formatter keeps the parts of a line of text, and a drawing, on one line
)

// emptyNames are package names that say nothing about the content.
var emptyNames = []string{"util", "utils", "helper", "helpers", "common", "manager"}

func TestLinesFitOnAScreen(t *testing.T) {
	for _, file := range handWritten(t, ".go", ".templ") {
		source := must.Get(os.ReadFile(file))
		for _, line := range longLines(file, source) {
			t.Errorf("%s:%d is longer than %d characters (%d in a comment)", file, line, longestLine, longestComment)
		}
	}
}

func TestPackagesAreNamedAfterTheirContent(t *testing.T) {
	for _, file := range handWritten(t, ".go") {
		f := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly))
		if slices.Contains(emptyNames, strings.TrimSuffix(f.Name.Name, "_test")) {
			t.Errorf("%s: package %s is not named after what it contains", file, f.Name.Name)
		}
	}
}

// handWritten lists the files with one of the endings, without generated ones.
func handWritten(t *testing.T, endings ...string) (files []string) {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "-co", "--exclude-standard").Output()
	must.Do(t, err)
	for file := range strings.Lines(string(out)) {
		file = strings.TrimSpace(file)
		if _, err := os.Stat(file); err != nil || strings.HasSuffix(file, "_templ.go") {
			continue // removed or generated
		}
		if slices.Contains(endings, path.Ext(file)) {
			files = append(files, file)
		}
	}
	return files
}

// longLines are the numbers of the lines that are too long. Raw strings do not
// count: they hold recorded replies and tables of samples.
func longLines(file string, source []byte) (numbers []int) {
	raw := map[int]bool{}
	if strings.HasSuffix(file, ".go") {
		raw = rawStringLines(source)
	}
	lines := bufio.NewScanner(bytes.NewReader(source))
	lines.Buffer(nil, len(source)+1)
	for n := 1; lines.Scan(); n++ {
		limit := longestLine
		if strings.HasSuffix(file, ".templ") {
			limit = longestMarkup
		}
		if bytes.HasPrefix(bytes.TrimSpace(lines.Bytes()), []byte("//")) {
			limit = longestComment
		}
		if utf8.RuneCount(lines.Bytes()) > limit && !raw[n] {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// rawStringLines are the lines that a raw string is on.
func rawStringLines(source []byte) map[int]bool {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0)
	lines := map[int]bool{}
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if kind == token.STRING && text[0] == '`' {
			first := file.Line(pos)
			for n := range strings.Count(text, "\n") + 1 {
				lines[first+n] = true
			}
		}
	}
}
