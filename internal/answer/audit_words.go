package answer

import (
	"cmp"

	"shardboard/internal/sanitize"
)

// AuditWhat says what was done. A code of a newer server stands for itself; so with
// the next two.
func AuditWhat(code string) string { return cmp.Or(auditWhat[code], code) }

// AuditVia says how somebody was known.
func AuditVia(code string) string { return cmp.Or(auditVia[code], code) }

// AuditOutcome says how what did not succeed ended.
func AuditOutcome(code string) string { return cmp.Or(auditOutcome[code], code) }

// AuditKnows tells whether there are words for what was done.
func AuditKnows(code string) bool { return auditWhat[code] != "" }

// AuditKind is a choice of the filter: those of the list have words, a code
// that somebody typed into the address stands for itself.
func AuditKind(what string) string {
	if what == "" {
		return "any"
	}
	return cmp.Or(auditKind[what], sanitize.Truncate(what, 60))
}

// auditKind are the choices of the filter by their prefix.
var auditKind = map[string]string{
	"login.":   "sign-in",
	"session.": "sessions",
	"user.":    "users",
	"token.":   "tokens",
	"survey.":  "surveys",
	"advice.":  "advice",
	"alert.":   "alerts",
	"plan.":    "plans",
	"run.":     "runs",
	"access.":  "refused requests",
	"audit.":   "this record",
	"data.":    "the data directory",
}

// auditWhat is what was done, by the code that is kept.
var auditWhat = map[string]string{
	"login.ok":         "Signed in",
	"login.refused":    "Tried to sign in",
	"login.limited":    "Tried to sign in too often",
	"logout":           "Signed out",
	"break-glass.used": "Break-glass account used",
	"proxy.spoofed":    "Claimed a name from an address that is no proxy of ours",
	"user.created":     "User added",
	"user.role":        "Role changed",
	"user.disabled":    "User disabled",
	"user.enabled":     "User enabled",
	"user.password":    "Password change",
	"token.created":    "Token made",
	"token.revoked":    "Token revoked",
	"session.revoked":  "Session revoked",
	"session.rotated":  "Session replaced after a change of the role",
	"survey.started":   "Survey started",
	"survey.stopped":   "Survey stopped",
	"alert.tested":     "Test of alerts sent",
	"plan.made":        "Plan made",
	"plan.refused":     "Plan refused",
	"run.started":      "Run started",
	"run.refused":      "Run of a plan refused",
	"run.step":         "Step of a run ended",
	"run.stop":         "Stop of a run asked for",
	"run.ended":        "Run ended",
	"access.refused":   "Request to change something refused: by role, or it came from another site",
	"access.flood":     "Many refused attempts of several kinds, summed up",
	"unreadable":       "Cannot be read: the kept bytes are not a record",
	"data.takeover":    "Data directory taken over after its owner had stopped",
	"advice.dismissed": "Problem dismissed",
	"advice.restored":  "Dismissal undone",
	"alert.silenced":   "Alerts silenced",
	"alert.unsilenced": "Silence ended",
	"run.adapted":      "The rest of a run was planned again",
}

// auditVia is how somebody was known.
var auditVia = map[string]string{
	"password":    "by password",
	"oidc":        "by OIDC",
	"proxy":       "by the proxy's header",
	"token":       "by token",
	"break-glass": "by the break-glass account",
	"demo":        "in a demo",
	"none":        "sign-in is off",
}

// auditOutcome is how what did not succeed ended.
var auditOutcome = map[string]string{
	"refused": "refused",
	"failed":  "failed",
	"unknown": "outcome unknown",
}

// auditBreaks say what is wrong with the chain and how that is known.
var auditBreaks = map[string]string{
	"misplaced": "The record was changed: number {found} follows where number {seq} " +
		"belongs. A record was deleted, moved or inserted.",
	"unlinked": "The record was changed: record {seq} does not link to the one before it.",
	"changed":  "The record was changed: record {seq} was edited after it was written.",
	"cut": "The record was changed: it ends at {found}, but a head was signed at " +
		"record {seq} ({at}). The last records were deleted.",
	"rebuilt": "The record was changed: record {seq} is not the one whose head " +
		"was signed ({at}). The records were rewritten.",
	"cut.seen": "The record was changed: it ends at {found}, but record {seq} " +
		"was there before. The last records were deleted.",
	"cut.witness": "The record was changed: it ends at {found}, but the witness file has a head that was signed at record " +
		"{seq} ({at}). The last records were deleted, or an older copy of the data was put back.",
	"rebuilt.seen": "The record was changed: record {seq} is not the one that was there before. The records were rewritten.",
	"rebuilt.witness": "The record was changed: record {seq} is not the one in the witness file, signed " +
		"{at}. The records were rewritten, or other data was put in their place.",
	"foreign": "The record was changed: another program inserted record {seq}. The " +
		"only process that may write records did not write it.",
	"headLost": "The head that was signed at record {seq} ({at}) is no longer in " +
		"the data. Signed heads were deleted or changed.",
	"forged.witness": "The head at record {seq} in the witness file has a false signature.",
	"forged":         "A head at record {seq} has a false signature.",
	"otherKey":       "The head at record {seq} is signed by a key that is not trusted: {key}.",
	"other":          "The record is wrong at {seq} ({code}).",
}

// auditBanners are for every page, by the trouble with the record.
var auditBanners = map[string]string{
	"damaged":  "The audit record is missing or damaged; the page Audit says what is wrong and what to do.",
	"unread":   "The audit record could not be read for more than a minute; the page Audit says more.",
	"unsigned": "The end of the audit record could not be signed for more than a minute; the page Audit says more.",
	"witness":  "The witness file of the audit record cannot be used; the page Audit says more.",
}
