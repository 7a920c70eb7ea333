package words

// damaged is what pages say while our own data cannot be used, and after a defect of
// ours. What is wrong with which file, and what to do, comes from the store.
var damaged = map[string]string{
	"trouble.banner": "{title}. {cause} {remedy}",
	"trouble.since":  "It is so since {at}.",
	"trouble.public": "Nothing can be done from here. The log of the server says which file it is and what to do; tell who runs shardboard, and try again later.",

	"bug.reference": "Whoever runs shardboard finds the cause in its log by ref={ref}, at {at}.",
}
