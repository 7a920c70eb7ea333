package site

import (
	"net/http"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// ?format= asks for a format. Every question takes it, at the address of its page and at that of its JSON.
// A suffix such as .csv is one only where no name can stand before it.
const (
	formatCSV  = "csv"
	formatJSON = "json"
)

var paramsFormat = []Param{ParamFormat()}

// ParamFormat describes ?format=.
func ParamFormat() Param {
	return Query(api.FormatParam, "html, json or csv: the format, whatever the address and the Accept header say; csv of lists only")
}

type handler = func(*Site, http.ResponseWriter, *http.Request) error

// askedFormat is the format that ?format= asks for, "" for that of the address.
func askedFormat(r *http.Request) (string, error) {
	switch f := r.URL.Query().Get(api.FormatParam); f {
	case "", formatCSV, formatJSON:
		return f, nil
	case "html":
		return "", nil
	default:
		return "", fault.New(fault.Invalid, "format must be html, json or csv, not %q.", sanitize.Truncate(f, 40))
	}
}

// InFormat answers in the usual way, or in the format that ?format= asks for. csv is nil if it is no list.
func InFormat(usual, json, csv handler) handler {
	return func(s *Site, w http.ResponseWriter, r *http.Request) error {
		format, err := askedFormat(r)
		switch {
		case err != nil:
			return err
		case format == formatJSON:
			return json(s, w, r)
		case format != formatCSV:
			return usual(s, w, r)
		case csv == nil:
			return fault.New(fault.Invalid, "There is no CSV of this: it is not a list.")
		}
		return csv(s, w, r)
	}
}

// WantsCSV tells whether the caller asked for CSV by name; */* is not enough.
func WantsCSV(r *http.Request) bool {
	if f := r.URL.Query().Get(api.FormatParam); f != "" {
		return f == formatCSV
	}
	for part := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		name, _, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), MediaCSV) {
			return true
		}
	}
	return false
}
