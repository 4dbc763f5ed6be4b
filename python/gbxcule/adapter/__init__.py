"""The swarm as other libraries want their environments; each module needs the library it is named after."""
