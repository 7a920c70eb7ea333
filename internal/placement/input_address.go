package placement

import (
	"net/url"
	"strings"

	"shardboard/internal/fault"
)

// addressReadings understands addresses of Yorkie's dashboard:
// …/projects/<name>/documents/<key> and …/projects/<name>, on any host, with
// or without one. Nothing is ever fetched from there: only the path is read.
// whole tells that the text cannot be anything but an address, since it begins
// with a scheme or a slash.
func addressReadings(text string) (out []Reading, whole bool, err error) {
	path, whole, ok := addressPath(text)
	if !ok {
		return nil, whole, nil
	}
	segments := strings.Split(path, "/")
	at := -1
	for i, s := range segments {
		if s == "projects" && i+1 < len(segments) && segments[i+1] != "" {
			at = i
			break
		}
	}
	if at < 0 {
		return nil, whole, nil
	}
	project, err := unescape(segments[at+1])
	if err != nil {
		return nil, whole, err
	}
	rest := segments[at+2:]
	if len(rest) < 2 || rest[0] != "documents" || rest[1] == "" {
		if whole {
			out = append(out, Reading{Form: FormDashboard, Project: project})
		}
		return out, whole, nil
	}
	// A key may hold a slash that nobody escaped, and an address may go on
	// after the key: both are tried, the longer one first.
	full, err := unescape(strings.Join(rest[1:], "/"))
	if err != nil {
		return nil, whole, err
	}
	out = append(out, Reading{Form: FormDashboard, Project: project, Key: full})
	if len(rest) > 2 {
		short, err := unescape(rest[1])
		if err != nil {
			return nil, whole, err
		}
		out = append(out, Reading{Form: FormDashboard, Project: project, Key: short})
	}
	return out, whole, nil
}

// addressPath cuts the path out of an address; ok is false for what is none.
func addressPath(text string) (path string, whole, ok bool) {
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"):
		_, rest, _ := strings.Cut(text, "://")
		_, path, _ = strings.Cut(rest, "/")
		whole = true
	case strings.HasPrefix(text, "/"):
		path, whole = text[1:], true
	default:
		// host.example/projects/…: a host has a dot or a port, but a project's
		// name may have a dot too, so this is one reading among others.
		host, rest, cut := strings.Cut(text, "/")
		if !cut || !strings.ContainsAny(host, ".:") && host != "localhost" || !strings.HasPrefix(rest, "projects/") {
			return "", false, false
		}
		path = rest
	}
	path, _, _ = strings.Cut(path, "#")
	path, _, _ = strings.Cut(path, "?")
	return strings.TrimSuffix(path, "/"), whole, true
}

func unescape(s string) (string, error) {
	out, err := url.PathUnescape(s)
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "The address is not percent-escaped correctly.")
	}
	return out, checkText(out)
}
