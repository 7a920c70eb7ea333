package oidc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	maxGroups = 10_000
	maxGroup  = 512 // bytes of a group's name; directories have paths of some hundred
)

// lookup finds a claim by its name, or by a path of names with dots between them
// ("realm_access.roles"). The whole name counts first, at each level, because names
// that are addresses have dots too ("https://example.com/roles"), and so have the
// names of clients ("resource_access.board.example.roles"). null is not there.
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
	ignored int // entries that are no text, empty, or too long for a group's name
}

// readGroups reads one text, which is one group whatever is in it, or a list of
// texts. The error completes a sentence about the claim.
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

// overage tells whether the issuer says that it left the claim out: by a pointer to
// where it is (OpenID Connect Core §5.6.2, as Entra ID does for people in more than
// 200 groups), or by Entra's hasgroups.
func overage(claims map[string]any, claim string) bool {
	if has := claims["hasgroups"]; claim == "groups" && (has == true || has == "true") {
		return true
	}
	pointers, _ := claims["_claim_names"].(map[string]any)
	_, ok := pointers[claim]
	return ok
}
