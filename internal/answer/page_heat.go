package answer

import (
	"net/url"
	"strconv"
	"time"

	"shardboard/internal/heat/keyvis"
)

// address is the page's own, with the defaults left out.
func (q HeatQuery) Address() string {
	v := url.Values{}
	if q.Ns != "" {
		v.Set("ns", string(q.Ns))
	}
	if q.Window != DefaultWindow {
		v.Set("window", Short(q.Window))
	}
	if q.Span != MapSpan {
		v.Set("span", Short(q.Span))
	}
	if q.By != keyvis.ByKey {
		v.Set("by", string(q.By))
	}
	if q.Internal {
		v.Set(InternalParam, "1")
	}
	if len(v) == 0 {
		return "/heat"
	}
	return "/heat?" + v.Encode()
}

// short is a duration without its empty parts: 6h and not 6h0m0s.
func Short(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d%time.Minute == 0:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	}
	return d.String()
}
