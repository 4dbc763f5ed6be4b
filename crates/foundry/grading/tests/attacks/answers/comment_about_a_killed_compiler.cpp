// does not compile
#error Killed signal terminated program cc1plus: unable to execute command
