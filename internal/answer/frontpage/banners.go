package frontpage

import (
	"strings"
	"time"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/data"
	"shardboard/internal/auth"
	"shardboard/internal/message"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// Codes of the banners that an error page leaves out when the page itself says so.
const (
	DataBanner    = "data"
	DemoBanner    = "demo" // offers the tour
	MemoryBanner  = "memory"
	TroubleBanner = "trouble"
)

// BannerLevel is "note" for a banner that only says where one is or what runs, and "bad" for one that somebody has
// to act on.
func BannerLevel(m message.Message) string {
	if m.Code == DemoBanner || m.Code == changing.BatchBannerCode {
		return "note"
	}
	return "bad"
}

// OwnData is the condition of what shardboard itself stores.
type OwnData struct {
	Directory  store.Condition
	Leader     store.Leader
	Now        time.Time
	Trouble    *store.Trouble         // nil: none is known
	Unreadable []store.UnreadableRows // rows that lists are without
	Memory     string                 // what was given up because memory is short; "" for nothing
	Audit      *audit.State           // nil: nothing is recorded
}

// Banners are what somebody has to know on every page. One cause has one banner:
// while the data directory is lost, troubles with its files come from that.
func Banners(who auth.Principal, own OwnData) []message.Message {
	var out []message.Message
	add := func(m message.Message) {
		if !m.IsZero() {
			out = append(out, m)
		}
	}
	switch who.Method {
	case auth.ByNone:
		add(message.New("noSignIn", "Sign-in is off: every visitor is “local” and has every role."))
	case auth.ByDemo:
		add(message.New(DemoBanner, "This is a demo: there is no sign-in, and everybody on this machine can change its cluster."))
	case auth.ByBreakGlass:
		add(message.New("breakGlass", "You are signed in with the break-glass account. Everything you do is recorded as such."))
	}
	add(data.HoldMessage(DataBanner, data.DataBanners, own.Directory))
	add(leaderBanner(own))
	if !own.Directory.Lost() {
		add(troubleBanner(own.Trouble, who))
	}
	add(unreadableBanner(own.Unreadable))
	if own.Memory != "" {
		add(message.New(MemoryBanner, "{memory}", message.Words("memory", own.Memory)))
	}
	if own.Audit != nil && who.May(auth.Operator) && !auditExplained(own) {
		add(auditBanner(*own.Audit))
	}
	return out
}

// leaderless is how long nobody may lead before pages say so: longer than another replica needs to
// take over.
const leaderless = 15 * time.Second

// leaderBanner says that nobody runs plans, records and sends alerts.
func leaderBanner(own OwnData) message.Message {
	l := own.Leader
	if own.Directory.Hold != store.Owned || !l.Shared || l.Name != "" || l.Since.IsZero() || own.Now.Sub(l.Since) < leaderless {
		return message.Message{}
	}
	return message.New("leaderless", "None of the shardboards that share this store leads (since {at}): no plan is run, nothing is recorded "+
		"and no alert is sent. Everything else works. Their logs say why.", message.Time("at", l.Since))
}

// troubleBanner names our files only to operators, who can do something about them.
func troubleBanner(t *store.Trouble, who auth.Principal) message.Message {
	if t == nil {
		return message.Message{}
	}
	pattern := "{trouble}. Part of this site does not work until it is repaired. Tell the administrator of shardboard: " +
		"the log names the file and the remedy. Since {at}."
	facts := []message.Fact{message.Words("trouble", t.Title()), message.Time("at", t.Since)}
	if who.May(auth.Operator) {
		pattern = "{trouble}. {cause} {remedy} Since {at}."
		facts = append(facts, message.Words("cause", t.Cause), message.Words("remedy", t.Remedy))
	}
	return message.New(TroubleBanner, pattern, facts...)
}

// unreadableBanner says how many rows lists are without.
func unreadableBanner(tables []store.UnreadableRows) message.Message {
	var n int64
	var names []string
	for _, u := range tables {
		n += int64(u.Rows)
		names = append(names, u.Table)
	}
	if n == 0 {
		return message.Message{}
	}
	return message.New("unreadable", message.Plural(n,
		"{n} row of the database is unreadable and left out of its list ({tables}). The log names it.",
		"{n} rows of the database are unreadable and left out of their lists ({tables}). The log names them."),
		message.Count("n", n), message.Words("tables", strings.Join(names, ", ")))
}

// auditBanner is zero while nothing is known to be wrong with the audit record.
func auditBanner(st audit.State) message.Message {
	t := st.Trouble()
	switch {
	case t == nil:
		return message.Message{}
	case st.Break != nil:
		return message.New("audit.changed", "The audit record was changed by something other than this program; the Audit page shows where.")
	}
	return message.New("audit."+t.Code, auditing.AuditBanners[t.Code])
}

// auditExplained tells whether the banner of the data directory or of the database
// has the cause of what is wrong with the audit record already. A record that was
// changed and a witness that fails always have a banner of their own.
func auditExplained(own OwnData) bool {
	t := own.Audit.Trouble()
	if t == nil || own.Audit.Break != nil || t.Code == string(audit.StageWitness) {
		return false
	}
	if own.Directory.Lost() {
		return true
	}
	data := own.Trouble // one that passes by itself is no cause of damage
	cause, known := store.TroubleOf(own.Audit.Err)
	if known && data != nil && cause.Code == store.TroubleSchema && cause.Cause != data.Cause {
		return false // another table is missing too
	}
	return data != nil && (data.Lasting() || t.Code != audit.Damaged)
}
