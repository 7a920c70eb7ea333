package words

// dataDirectory are the sentences about where everything is stored.
var dataDirectory = map[string]string{
	// Around every page.
	"banner.data.ownedByAnother": "Read only: another shardboard owns the data directory. Sign in, plan changes and change settings at that one.",
	"banner.data.ownerGone":      "Read only: the other shardboard that owned the data directory has stopped (noticed at {at}). Nobody can sign in or change anything, and no alert is sent, until an admin lets this one take over or the other one is started again.",
	"banner.data.vanished":       "Nothing can be stored: the data directory or a file in it was moved, deleted or replaced while shardboard was running (noticed at {at}). What was stored shortly before may be lost. Put the same directory back (a copy is not the same), or restart shardboard. The log has the path.",
	"banner.data.unreadable":     "Nothing is stored: the data directory cannot be looked at (since {at}), so shardboard cannot tell whether it is still the same one. The log has the cause. shardboard tries again every few seconds.",
	"banner.data.other":          "Nothing can be stored now ({code}).",

	// Beside what is not offered, and on the way in.
	"act.why.data.ownedByAnother": "Another shardboard owns the data directory; changes are made there.",
	"act.why.data.ownerGone":      "This one only reads: an admin has to let it take over first.",
	"act.why.data.vanished":       "Nothing can be stored: the data directory was moved or deleted.",
	"act.why.data.unreadable":     "Nothing can be stored: the data directory cannot be looked at.",
	"act.why.data.other":          "Nothing can be stored now ({code}).",
	"login.data.ownedByAnother":   "Another shardboard owns the data directory, so nobody can sign in here. Sign in at the other one.",
	"login.data.ownerGone":        "The shardboard that owned the data has stopped, so nobody can sign in here. Start that one again, or restart this one. An admin who is still signed in here, or who has a token (shardboard takeover), can let this one take over.",
	"login.data.vanished":         "The data directory was moved or deleted while shardboard was running, so nobody can sign in until it is back or shardboard is restarted.",
	"login.data.unreadable":       "The data directory cannot be looked at, so nobody can sign in now. The log has the cause.",
	"login.data.other":            "Nobody can sign in now ({code}).",

	"audit.what.data.takeover": "Data directory taken over after its owner had stopped",
	"audit.kind.data.":         "the data directory",
}
