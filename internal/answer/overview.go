package answer

// newestEvents is how many changelog lines the overview shows.
const NewestEvents = 8
