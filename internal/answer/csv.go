package answer

import (
	"encoding/csv"
	"strconv"
	"strings"
	"unicode/utf8"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// sheet writes CSV whose cells a spreadsheet takes for text and never for a
// formula: names and keys come from strangers, and "=HYPERLINK(…)" is a legal
// document key.
type Sheet struct {
	Out *csv.Writer
}

func (s Sheet) Row(cells ...string) {
	for i := range cells {
		cells[i] = Inert(cells[i])
	}
	_ = s.Out.Write(cells) // kept and given back by done
}

func (s Sheet) Done() error {
	s.Out.Flush()
	return fault.Wrap(fault.Internal, s.Out.Error(), "The table could not be written as CSV.")
}

// starters are what spreadsheets take for the beginning of a formula, wide forms
// and the typographic minus included.
const starters = "=+-@|\uff1d\uff0b\uff0d\uff20\u2212"

// inert makes a cell that no spreadsheet runs: one line of visible characters,
// since a tab or line end would begin another cell where quotes are not heeded,
// and spaces are skipped; with an apostrophe before what would begin a formula.
// Numbers are left alone, negative ones too: they cannot do anything.
func Inert(cell string) string {
	cell = sanitize.Line(cell)
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(cell, " "))
	if !strings.ContainsRune(starters, first) {
		return cell
	}
	if _, err := strconv.ParseInt(cell, 10, 64); err == nil && first == '-' {
		return cell
	}
	return "'" + cell
}

// fileName keeps what is harmless in a header and on every file system.
func FileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, sanitize.Truncate(name, 100))
}

// FigureText is empty for an unknown figure: a sheet that sums a column must
// not take it for zero.
func FigureText(f api.Figure) string {
	if f.Value == nil {
		return ""
	}
	return strconv.FormatInt(*f.Value, 10)
}

func ShareText(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', 4, 64)
}
