package site

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/internal/fault"
)

// ReadLines reads the queries of a POST locate: it takes text/plain, one query a line, or JSON {"lines": […]}. Blank
// lines are left out.
func ReadLines(r *http.Request) ([]string, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err // MaxBytesError, or the caller is gone
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && r.Header.Get("Content-Type") != "" {
		return nil, fault.New(fault.Invalid, "The Content-Type of this request is not readable.")
	}
	var lines []string
	switch {
	case kind == MediaJSON:
		var in api.LocateRequest
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			return nil, fault.Wrap(fault.Invalid, err, `The body is not JSON of the form {"lines": ["…"]}.`)
		}
		lines = in.Lines
	case kind == "" || kind == "text/plain":
		scan := bufio.NewScanner(bytes.NewReader(body))
		scan.Buffer(nil, answer.MaxLocate+1)
		for scan.Scan() {
			lines = append(lines, scan.Text())
		}
	default:
		return nil, &StatusError{Status: http.StatusUnsupportedMediaType, Text: "Send text/plain, one query a line, or application/json."}
	}
	return locating.LocateLines(lines)
}
