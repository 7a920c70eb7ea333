package ids

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// ParseUUID parses a UUID as people and tools write it: with or without hyphens, in any case, in
// braces, as urn:uuid:…, as mongosh's UUID("…"), as Extended JSON's {"$uuid": "…"} and as
// BinData(4, "…") of 16 bytes. Other subtypes are rejected: the byte order of subtype 3 depends on
// the driver's language.
func ParseUUID(s string) (UUID, bool) {
	s = strings.TrimSpace(s)
	if len(s) > 100 {
		return UUID{}, false
	}
	lower := strings.ToLower(s)
	switch {
	case strings.HasPrefix(lower, "urn:uuid:"):
		s = s[len("urn:uuid:"):]
	case strings.HasPrefix(lower, "uuid(") && strings.HasSuffix(s, ")"):
		s = unquote(s[len("uuid(") : len(s)-1])
	case strings.HasPrefix(lower, "bindata(") && strings.HasSuffix(s, ")"):
		return parseBinData(s[len("bindata(") : len(s)-1])
	case strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}"):
		s = strings.TrimSpace(s[1 : len(s)-1])
		if name, value, ok := strings.Cut(s, ":"); ok && unquote(name) == "$uuid" {
			s = unquote(value)
		}
	}
	return parseDigits(s)
}

func parseBinData(s string) (u UUID, ok bool) {
	subtype, data, found := strings.Cut(s, ",")
	raw, err := base64.StdEncoding.DecodeString(unquote(data))
	if !found || strings.TrimSpace(subtype) != "4" || err != nil || len(raw) != len(u) {
		return u, false
	}
	return UUID(raw), true
}

// parseDigits parses 32 hex digits, with all four hyphens or none.
func parseDigits(s string) (u UUID, ok bool) {
	if len(s) == 36 {
		if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
			return u, false
		}
		s = s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	}
	if len(s) != 32 {
		return u, false
	}
	_, err := hex.Decode(u[:], []byte(s))
	return u, err == nil
}

func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
