package auditing

var auditWhat = map[string]string{
	"login.ok":               "Signed in",
	"login.refused":          "Tried to sign in",
	"login.limited":          "Tried to sign in too often",
	"logout":                 "Signed out",
	"break-glass.used":       "Break-glass account used",
	"proxy.spoofed":          "Claimed a name from an address that is not a trusted proxy",
	"user.created":           "User added",
	"user.role":              "Role changed",
	"user.disabled":          "User disabled",
	"user.enabled":           "User enabled",
	"user.password":          "Password change",
	"token.created":          "Token created",
	"token.revoked":          "Token revoked",
	"store.key-changed":      "Session key new: earlier sessions and approvals ended",
	"store.unsealed":         "Row of the store without a valid seal refused",
	"session.revoked":        "Session revoked",
	"session.rotated":        "Session replaced after a role change",
	"survey.started":         "Survey started",
	"survey.stopped":         "Survey stopped",
	"alert.tested":           "Test alert sent",
	"plan.made":              "Plan created",
	"plan.refused":           "Plan refused",
	"plan.approved":          "Plan approved by a second person",
	"plan.rejected":          "Plan rejected by a second person, or approval taken back",
	"plan.approve.refused":   "Approval refused",
	"run.started":            "Run started",
	"run.refused":            "Run refused",
	"run.step":               "Run step ended",
	"run.stop":               "Run stop requested",
	"run.paused":             "Batch paused",
	"run.resumed":            "Batch resumed",
	"run.ended":              "Run ended",
	"access.refused":         "Change refused: wrong role, or the request came from another site",
	"access.flood":           "Many refused attempts, summed up",
	"unreadable":             "Unreadable: the stored bytes are not a record",
	"withheld":               "Not shown: about a cluster on which you are no operator",
	"configuration.reloaded": "Configuration file read again",
	"data.takeover":          "Data directory taken over after its owner had stopped",
	"profile.kept":           "Proposed profile kept for the cluster",
	"profile.dropped":        "Kept profile dropped",
	"advice.dismissed":       "Problem dismissed",
	"advice.taken":           "Problem taken",
	"advice.left":            "Problem left",
	"advice.restored":        "Dismissal undone",
	"alert.silenced":         "Alerts silenced",
	"alert.unsilenced":       "Silence ended",
	"run.adapted":            "Rest of a run planned again",
}

// auditBreaks are the sentences about a Break by its code, with .witness or .seen for how it is known.
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
	"other":          "The record is inconsistent at record {seq} ({code}).",
}

// AuditBanners are the banners of every page, by the code of a Trouble.
var AuditBanners = map[string]string{
	"damaged":  "The audit record is missing or damaged; the Audit page shows what is wrong and what to do.",
	"unread":   "The audit record could not be read for more than a minute; see the Audit page.",
	"unsigned": "The end of the audit record could not be signed for more than a minute; see the Audit page.",
	"witness":  "The witness file of the audit record cannot be used; see the Audit page.",
}
