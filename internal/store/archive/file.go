package archive

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// A backup file is gzip of JSON lines (docs/data.md):
//
//	{"format":"shardboard-backup","version":1,"made":"…","by":"shardboard …","store":"…"}
//	{"table":"users","columns":[{"name":"id","type":"text"},…]}
//	["7f…","anna",…]                   one array for each row of the table
//	…                                  the next table
//	{"rows":123,"sha256":"…"}          number of rows, checksum of all lines before this one
//
// Bytes are base64, times milliseconds since 1970. A text that is not UTF-8 is {"base64":"…"}.
const (
	formatName    = "shardboard-backup"
	formatVersion = 1
)

type header struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Made    time.Time `json:"made"`
	By      string    `json:"by"`
	Store   string    `json:"store"`
}

type tableLine struct {
	Table   string       `json:"table"`
	Columns []columnLine `json:"columns"`
}

type columnLine struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type footer struct {
	Rows   int    `json:"rows"`
	SHA256 string `json:"sha256"`
}

type oddText struct {
	Base64 []byte `json:"base64"`
}

func lineOf(t store.Table) tableLine {
	l := tableLine{Table: t.Name}
	for _, c := range t.Columns {
		l.Columns = append(l.Columns, columnLine{c.Name, string(c.Type)})
	}
	return l
}

// encodeRow makes a row's line.
func encodeRow(row store.Row) ([]byte, error) {
	out := make([]any, len(row))
	for i, v := range row {
		switch v := v.(type) {
		case []byte:
			if v != nil {
				out[i] = base64.StdEncoding.EncodeToString(v)
			}
		case string:
			out[i] = v
			if !utf8.ValidString(v) {
				out[i] = oddText{[]byte(v)}
			}
		default:
			out[i] = v
		}
	}
	return json.Marshal(out)
}

// decodeRow reads a row's line.
func decodeRow(t store.Table, line []byte) (store.Row, error) {
	raw, plain := splitRow(line, len(t.Columns))
	if !plain {
		if err := json.Unmarshal(line, &raw); err != nil {
			return nil, err
		}
	}
	if len(raw) != len(t.Columns) {
		return nil, fmt.Errorf("%d values instead of %d", len(raw), len(t.Columns))
	}
	row := make(store.Row, len(raw))
	for i, c := range t.Columns {
		v, err := decodeValue(c, raw[i])
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		row[i] = v
	}
	return row, checkRow(t, row)
}

// splitRow cuts an array of plain texts, numbers and nulls, which nearly all rows are; false for any other. A backup
// has millions of rows, and cutting is five times as fast as json.Unmarshal.
func splitRow(line []byte, columns int) ([]json.RawMessage, bool) {
	raw, at := make([]json.RawMessage, 0, columns), 1
	for at < len(line) && line[0] == '[' {
		end := at
		if line[at] == '"' {
			text := line[at+1:]
			n := bytes.IndexByte(text, '"')
			if n < 0 || !plainText(text[:n]) {
				return nil, false
			}
			end = at + n + 2
		} else {
			for end < len(line) && (line[end] == '-' || line[end] >= '0' && line[end] <= '9' || line[end] >= 'a' && line[end] <= 'z') {
				end++
			}
		}
		if end == at || end >= len(line) {
			return nil, false
		}
		raw = append(raw, line[at:end])
		switch {
		case line[end] == ',':
			at = end + 1
		default:
			return raw, string(line[end:]) == "]\n"
		}
	}
	return nil, false
}

// plainText tells whether a text stands in JSON as it is.
func plainText(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c == '\\' {
			return false
		}
	}
	return utf8.Valid(text)
}

// textOf is the text of a JSON string without escapes.
func textOf(raw json.RawMessage) ([]byte, bool) {
	if n := len(raw); n >= 2 && raw[0] == '"' && plainText(raw[1:n-1]) {
		return raw[1 : n-1], true
	}
	return nil, false
}

func decodeValue(c store.Column, raw json.RawMessage) (any, error) {
	null := string(raw) == "null"
	switch c.Type {
	case store.Text:
		if len(raw) > 0 && raw[0] == '{' {
			var odd oddText
			err := json.Unmarshal(raw, &odd)
			return string(odd.Base64), err
		}
		if text, plain := textOf(raw); plain {
			return string(text), nil
		}
		var s *string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		if s == nil {
			return nil, fmt.Errorf("no text")
		}
		return *s, nil
	case store.Bytes, store.Body, store.Unset:
		if null && c.Type == store.Unset {
			return nil, nil
		}
		if text, plain := textOf(raw); plain {
			return base64.StdEncoding.AppendDecode([]byte{}, text)
		}
		b := []byte{}
		err := json.Unmarshal(raw, &b)
		return b, err
	}
	if null && c.Type == store.Ended {
		return nil, nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return nil, err
	}
	if c.Type == store.Flag && n != 0 && n != 1 {
		return nil, fmt.Errorf("%d is no flag", n)
	}
	return n, nil
}

// checkRow refuses values that no shardboard writes.
func checkRow(t store.Table, row store.Row) error {
	if t.Name != "users" && t.Name != "sessions" && t.Name != "tokens" {
		return nil
	}
	for i, c := range t.Columns {
		role, _ := row[i].(string)
		if c.Name == "role" && !slices.Contains([]string{"viewer", "support", "operator", "admin"}, role) {
			return fmt.Errorf("there is no role %q", role)
		}
		if c.Name == "id" && row[i] == "" {
			return fmt.Errorf("a row of %s has no id", t.Name)
		}
	}
	return nil
}

func badFile(path string, err error) error {
	return fault.Wrap(fault.Invalid, err,
		"%s is not a whole backup of shardboard: it was cut off, damaged or changed, or is another file.", path)
}
