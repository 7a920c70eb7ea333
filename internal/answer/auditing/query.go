package auditing

import (
	"net/url"
	"strconv"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/store/audit"
)

// AuditQuery selects a part of the audit record. The zero value is its newest part.
type AuditQuery struct {
	By, What, Subject, From, To string // as they were typed
	Filter                      audit.Filter
	Below                       int64 // 0: from the end
}

// ParseAuditQuery reads the query of the page.
func ParseAuditQuery(in url.Values) (q AuditQuery, err error) {
	if err = answer.TextParameters(in, map[string]*string{"by": &q.By, "what": &q.What, "subject": &q.Subject, "from": &q.From,
		"to": &q.To}); err != nil {
		return q, err
	}
	if q.Filter, err = parseAuditFilter(in); err != nil {
		return q, err
	}
	if below := in.Get("below"); below != "" {
		q.Below, err = strconv.ParseInt(below, 10, 64)
		if err != nil || q.Below < 1 {
			return q, fault.New(fault.Invalid, "below is the number of a record; %q is not.", sanitize.Truncate(below, 40))
		}
	}
	return q, nil
}

// Filtered tells that some records are left out.
func (q AuditQuery) Filtered() bool { return q.Filter != audit.Filter{} }

// URL is the page's address for records below a number; 0 is its newest part.
func (q AuditQuery) URL(below int64) string {
	u := url.Values{}
	answer.SetParameter(u, "by", q.By)
	answer.SetParameter(u, "what", q.What)
	answer.SetParameter(u, "subject", q.Subject)
	answer.SetParameter(u, "from", q.From)
	answer.SetParameter(u, "to", q.To)
	if below > 0 {
		u.Set("below", strconv.FormatInt(below, 10))
	}
	return answer.Address("/audit", u, 1)
}

func parseAuditFilter(q url.Values) (f audit.Filter, err error) {
	f = audit.Filter{By: q.Get("by"), What: q.Get("what"), Subject: q.Get("subject")}
	if f.From, err = timeOrDate(q, "from"); err != nil {
		return f, err
	}
	f.To, err = timeOrDate(q, "to")
	return f, err
}

// timeOrDate reads a time, or a date, which begins at midnight in UTC.
func timeOrDate(q url.Values, name string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, q.Get(name)); err == nil {
		return day, nil
	}
	return answer.TimeParameter(q, name, time.Time{})
}

// cursorNumber is a cursor that holds a place; 0 when there is none.
func cursorNumber(q url.Values) (int64, error) {
	key, given, err := answer.CursorKey(q)
	if err != nil || !given {
		return 0, err
	}
	n, err := strconv.ParseInt(key, 10, 64)
	if err != nil || n < 1 || n > 1<<53 {
		return 0, fault.New(fault.Invalid, "This cursor is not from this list: %q.", sanitize.Truncate(q.Get("cursor"), 80))
	}
	return n, nil
}
