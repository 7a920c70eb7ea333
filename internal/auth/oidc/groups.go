package oidc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	maxGroups = 10_000
	maxGroup  = 512 // bytes of a group's name; directory paths have some hundred
)

// lookup finds a claim by its name or by a path of names separated by dots ("realm_access.roles").
// At each level the whole name is tried first, because some names have dots themselves
// ("https://example.com/roles", "resource_access.board.example.roles"). A null value counts as
// missing.
func lookup(claims map[string]any, path string) (any, bool) {
	if v, ok := claims[path]; ok && v != nil {
		return v, true
	}
	for end := strings.LastIndexByte(path, '.'); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		if inner, ok := claims[path[:end]].(map[string]any); ok {
			if v, ok := lookup(inner, path[end+1:]); ok {
				return v, true
			}
		}
	}
	return nil, false
}

type groupList struct {
	groups  []string
	oneText bool
	ignored int // entries that are not strings, empty, or too long for a name
}

// readGroups reads a string, which is one group whatever it contains, or a list of strings. The
// error completes a sentence that begins with the claim.
func readGroups(v any) (out groupList, err error) {
	var list []any
	switch v := v.(type) {
	case string:
		list, out.oneText = []any{v}, true
	case []any:
		list = v
	case map[string]any:
		return out, errors.New("is an object")
	case bool:
		return out, errors.New("is true or false")
	default:
		return out, errors.New("is a number")
	}
	for _, e := range list {
		if s, ok := e.(string); ok && s != "" && len(s) <= maxGroup {
			out.groups = append(out.groups, s)
		} else {
			out.ignored++
		}
	}
	if len(out.groups) == 0 && out.ignored > 0 && !out.oneText {
		return out, fmt.Errorf("is a list of %d entries of which none is a text of 1 to %d bytes", out.ignored, maxGroup)
	}
	out.groups = slices.Clip(out.groups)
	return out, nil
}

// overage reports whether the issuer left the claim out because it was too large: by a pointer to
// where it is (OpenID Connect Core §5.6.2, used by Entra ID above 200 groups) or by Entra's
// hasgroups.
func overage(claims map[string]any, claim string) bool {
	if has := claims["hasgroups"]; claim == "groups" && (has == true || has == "true") {
		return true
	}
	pointers, _ := claims["_claim_names"].(map[string]any)
	_, ok := pointers[claim]
	return ok
}
