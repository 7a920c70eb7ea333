package auditing

import (
	"net/url"
	"strconv"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/store/audit"
)

// AuditQuery selects a part of the audit record. The zero value is its newest part.
type AuditQuery struct {
	Filter   audit.Filter
	From, To string // its times, as they were typed
	Below    int64  // 0: from the end
}

// Parameters are those of the address of the page.
func (q *AuditQuery) Parameters() param.List {
	return append(filterParameters(&q.Filter, &q.From, &q.To),
		param.Of("below", "older than the record with this number", func(below string) (err error) {
			if q.Below, err = strconv.ParseInt(below, 10, 64); err != nil || q.Below < 1 {
				return fault.New(fault.Invalid, "below is the number of a record; %q is not.", sanitize.Truncate(below, 40))
			}
			return nil
		}))
}

// AuditListQuery selects records for scripts.
type AuditListQuery struct {
	filter audit.Filter
	order  string // newest or oldest
	from   int64  // the number of a record; 0: from the first in this order
	limit  int
}

// Parameters are those of the address of the list.
func (q *AuditListQuery) Parameters() param.List {
	var from, to string
	q.order = "newest"
	return append(filterParameters(&q.filter, &from, &to),
		param.OneOf(&q.order, "order", "", "newest", "oldest"), cursorNumber(&q.from), param.Limit(&q.limit))
}

// AuditHeadsQuery selects signed heads.
type AuditHeadsQuery struct {
	skip  int64
	limit int
}

// Parameters are those of the address of the list.
func (q *AuditHeadsQuery) Parameters() param.List {
	return param.List{cursorNumber(&q.skip), param.Limit(&q.limit)}
}

// AuditBy selects what somebody did.
func AuditBy(who string) AuditQuery { return AuditQuery{Filter: audit.Filter{By: who}} }

// Filtered tells that some records are left out.
func (q AuditQuery) Filtered() bool { return q.Filter != audit.Filter{} }

// URL is the page's address for records below a number; 0 is its newest part.
func (q AuditQuery) URL(below int64) string {
	u := url.Values{}
	answer.SetParameter(u, "by", q.Filter.By)
	answer.SetParameter(u, "what", q.Filter.What)
	answer.SetParameter(u, "subject", q.Filter.Subject)
	answer.SetParameter(u, "from", q.From)
	answer.SetParameter(u, "to", q.To)
	if below > 0 {
		u.Set("below", strconv.FormatInt(below, 10))
	}
	return answer.Address("/audit", u, 1)
}

// filterParameters choose records. from and to are as they were typed.
func filterParameters(f *audit.Filter, from, to *string) param.List {
	return param.List{
		param.Text(&f.By, "by", "of this principal"),
		param.Text(&f.What, "what", "this code, or a prefix that ends in a dot"),
		param.Text(&f.Subject, "subject", "about this"),
		timeOrDate(from, &f.From, "from", "at this time or later, RFC 3339 or a date in UTC"),
		timeOrDate(to, &f.To, "to", "before this time"),
	}
}

// timeOrDate is a time, or a date, which begins at midnight in UTC.
func timeOrDate(typed *string, at *time.Time, name, text string) param.Param {
	return param.Of(name, text, func(given string) (err error) {
		*typed = given
		if *at, err = time.Parse(time.DateOnly, given); err != nil {
			*at, err = param.ParseTime(name, given)
		}
		return err
	})
}

// cursorNumber is a cursor that holds a number.
func cursorNumber(to *int64) param.Param {
	return param.CursorBy(func(key string) error {
		n, err := strconv.ParseInt(key, 10, 64)
		if err != nil || n < 1 || n > 1<<53 {
			return fault.New(fault.Invalid, "This cursor is not from this list: %q.", sanitize.Truncate(key, 80))
		}
		*to = n
		return nil
	})
}
