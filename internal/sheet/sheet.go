// Package sheet writes CSV files that are safe to open in a spreadsheet, and derives
// their columns from the types of the JSON answers.
package sheet

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// Writer writes CSV whose cells a spreadsheet takes for text and never for a
// formula: names and keys come from strangers, and "=HYPERLINK(…)" is a legal
// document key.
type Writer struct {
	out *csv.Writer
	// Address completes what is in columns of addresses; nil leaves it.
	Address   func(string) string
	addresses []int // their columns
}

// NewWriter begins a file with its header.
func NewWriter(w io.Writer, header ...string) Writer {
	s := Writer{out: csv.NewWriter(w)}
	s.Row(header...)
	for i, name := range header {
		if name == "url" || name == "results" || name == "playbook" || strings.HasSuffix(name, "Url") {
			s.addresses = append(s.addresses, i)
		}
	}
	return s
}

// Row adds a line.
func (s Writer) Row(cells ...string) {
	if s.Address != nil && len(s.addresses) > 0 {
		cells = slices.Clone(cells)
		for _, i := range s.addresses {
			cells[i] = s.Address(cells[i])
		}
	}
	inert := make([]string, len(cells))
	for i, cell := range cells {
		inert[i] = Inert(cell)
	}
	_ = s.out.Write(inert) // kept, and returned by Close
}

// Flush writes what is buffered and returns the first error of all rows.
func (s Writer) Flush() error {
	s.out.Flush()
	return s.out.Error()
}

// Close writes what is buffered. It returns the first error of all rows.
func (s Writer) Close() error {
	s.out.Flush()
	return fault.Wrap(fault.Internal, s.out.Error(), "The table could not be written as CSV.")
}

// formulaStarts are what spreadsheets take for the beginning of a formula, wide forms
// and the typographic minus included.
const formulaStarts = "=+-@|\uff1d\uff0b\uff0d\uff20\u2212"

// Inert makes a cell that no spreadsheet runs: one line of visible characters,
// since a tab or line end would begin another cell where quotes are not heeded,
// and spaces are skipped; with an apostrophe before what would begin a formula, also
// after a semicolon, which separates cells where the comma is a decimal point.
// Numbers are left alone, negative ones too: they cannot do anything.
func Inert(cell string) string {
	parts := strings.Split(sanitize.Line(cell), ";")
	for i, part := range parts {
		if beginsFormula(part) {
			parts[i] = "'" + part
		}
	}
	return strings.Join(parts, ";")
}

func beginsFormula(cell string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(cell, " "))
	if !strings.ContainsRune(formulaStarts, first) {
		return false
	}
	_, err := strconv.ParseFloat(cell, 64)
	return err != nil || first != '-'
}

// FileName keeps what is harmless in a header and on every file system.
func FileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, sanitize.Truncate(name, 100))
}

// Figure is empty for an unknown figure: a sheet that sums a column must not take it
// for zero.
func Figure(f api.Figure) string {
	if f.Value == nil {
		return ""
	}
	return strconv.FormatInt(*f.Value, 10)
}

// Share is a share from 0 to 1 with four decimals; empty if it is unknown.
func Share(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', 4, 64)
}
