package auth

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"shardboard/internal/fault"
)

// plainPath is a path that browsers, proxies and cookies all write in the same way.
var plainPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)

// maxRoot bounds the path of a public URL, which is in every link.
const maxRoot = 200

// PublicRoot is the path that a public URL has before every address, such as "/shardboard"; "" for none.
func PublicRoot(public string) (string, error) {
	u, err := url.Parse(public)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" ||
		u.User != nil {
		return "", fault.New(fault.Invalid, "The public URL %q is not like https://host, https://host:port or https://host/path.", public)
	}
	root := strings.TrimSuffix(u.EscapedPath(), "/")
	parts := strings.Split(root, "/")
	if !plainPath.MatchString(root) || len(root) > maxRoot || slices.Contains(parts, ".") || slices.Contains(parts, "..") {
		return "", fault.New(fault.Invalid, "The path of the public URL %q may have letters, digits and - . _ ~ between single slashes, "+
			"%d characters at most.", public, maxRoot)
	}
	return root, nil
}
