package site

import (
	"net/http"
	"net/url"
	"strings"
)

// LocalPage gives back an address when it is the address of one of our own
// pages, and "" otherwise. Not a list of what is dangerous but of what is
// there: the path must be one that the router has a page for.
func (s *Site) LocalPage(address string) string {
	if len(address) > maxNext || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") {
		return ""
	}
	for i := range len(address) { // browsers drop some controls and turn \ into /
		if c := address[i]; c <= ' ' || c >= 0x7f || c == '\\' {
			return ""
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" {
		return ""
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == "." || part == ".." {
			return ""
		}
	}
	path := u.EscapedPath()
	if rt, _ := s.routeAt(http.MethodGet, path); !rt.shown() {
		return ""
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// maxNext bounds the way back in the address of the sign-in page.
const maxNext = 2048
