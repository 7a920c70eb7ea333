package live

import (
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// ParseTopics reads ?t=overview@12,collection:db.name: the topics of a socket
// with the versions that its browser has (0 = none). A topic's own commas, at
// signs and percent signs are percent-escaped once more inside the value.
func (h *Hub) ParseTopics(q url.Values, who auth.Principal) (map[string]uint64, error) {
	out := map[string]uint64{}
	for _, value := range q["t"] {
		for part := range strings.SplitSeq(value, ",") {
			if part == "" {
				continue
			}
			var version uint64
			if i := strings.LastIndexByte(part, '@'); i > 0 {
				if n, err := strconv.ParseUint(part[i+1:], 10, 53); err == nil {
					part, version = part[:i], n
				}
			}
			name := part
			if strings.Contains(part, "%") {
				un, err := url.PathUnescape(part)
				if err != nil {
					return nil, fault.New(fault.Invalid, "The topic %q is not escaped correctly.", sanitize.Truncate(part, 60))
				}
				name = un
			}
			if _, err := param.Checked("A topic", name); err != nil {
				return nil, err
			}
			if _, ok := h.Fragments(name); !ok || len(name) > answer.MaxPathParam {
				return nil, fault.New(fault.Invalid, "There is no live topic %q.", sanitize.Truncate(name, 60))
			}
			t, _ := h.site.Topic(name)
			if err := MayFollow(who, t); err != nil {
				return nil, err
			}
			out[name] = version
		}
	}
	if len(out) == 0 || len(out) > maxTopics {
		return nil, fault.New(fault.Invalid, "A socket has 1 to %d topics in ?t=; this one has %d.", maxTopics, len(out))
	}
	return out, nil
}

// MayFollow holds a topic's policy against who asks for it.
func MayFollow(who auth.Principal, t site.Topic) error {
	need, known := t.Policy.Needs()
	if !known || !guard.Allowed(who, need) {
		return guard.Lacks(who, need)
	}
	return nil
}
