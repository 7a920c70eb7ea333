package archive

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
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

// appendRow adds a row's line. A backup has millions of rows: plain values are written here, others by encoding/json.
func appendRow(out []byte, row store.Row) ([]byte, error) {
	for i, v := range row {
		out = append(out, before(i))
		switch v := v.(type) {
		case int64:
			out = strconv.AppendInt(out, v, 10)
			continue
		case []byte:
			if v != nil {
				out = append(base64.StdEncoding.AppendEncode(append(out, '"'), v), '"')
				continue
			}
		case string:
			if plainText(v) {
				out = append(append(append(out, '"'), v...), '"')
				continue
			}
		}
		if text, ok := v.(string); ok && !utf8.ValidString(text) {
			v = oddText{[]byte(text)}
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		out = append(out, text...)
	}
	return append(out, ']'), nil
}

// decodeRow reads a row's line. like is a row of the same table: texts that are the same there are not made again.
func decodeRow(t store.Table, line []byte, like store.Row) (row store.Row, err error) {
	row, plain := plainRow(t, line, like)
	if !plain {
		if row, err = anyRow(t, line); err != nil {
			return nil, err
		}
	}
	return row, checkRow(t, row)
}

// anyRow reads a row's line by encoding/json.
func anyRow(t store.Table, line []byte) (store.Row, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil {
		return nil, err
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
	return row, nil
}

// plainRow reads an array of plain texts, numbers and nulls, which nearly all rows are, much faster than anyRow;
// false for any other.
func plainRow(t store.Table, line []byte, like store.Row) (store.Row, bool) {
	row := make(store.Row, len(t.Columns))
	for i, c := range t.Columns {
		if len(line) < 2 || line[0] != before(i) {
			return nil, false
		}
		var err error
		line = line[1:]
		if line[0] == '"' {
			end := 1 + bytes.IndexByte(line[1:], '"')
			if end == 0 {
				return nil, false
			}
			text := line[1:end]
			line = line[end+1:]
			switch c.Type {
			case store.Text:
				if like != nil && like[i] == string(text) {
					row[i] = like[i]
				} else if !plainText(text) {
					return nil, false
				} else {
					row[i] = string(text)
				}
			case store.Bytes, store.Body, store.Unset:
				row[i], err = base64.StdEncoding.AppendDecode([]byte{}, text)
			default:
				return nil, false
			}
		} else {
			end := 0
			for end < len(line) && line[end] != ',' && line[end] != ']' {
				end++
			}
			row[i], err = decodeValue(c, line[:end])
			line = line[end:]
		}
		if err != nil {
			return nil, false
		}
	}
	return row, string(line) == "]\n"
}

// before is what stands before a value of a row's line.
func before(i int) byte {
	if i == 0 {
		return '['
	}
	return ','
}

// plainText tells whether a text stands in JSON as it is.
func plainText[T string | []byte](text T) bool {
	ascii := true
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.ValidString(string(text))
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
		var s *string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		if s == nil {
			return nil, errors.New("no text")
		}
		return *s, nil
	case store.Bytes, store.Body, store.Unset:
		if null && c.Type == store.Unset {
			return nil, nil
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

// isOfAccounts tells whether a table says who may do what.
func isOfAccounts(t store.Table) bool { return t.Name == "users" || t.Name == "sessions" || t.Name == "tokens" }

// checkRow refuses values of accounts that no shardboard writes.
func checkRow(t store.Table, row store.Row) error {
	if !isOfAccounts(t) {
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
