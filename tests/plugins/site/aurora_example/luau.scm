(function_declaration name: (_) @name body: (_)? @body) @function
(comment) @comment
(function_call name: (identifier) @call)
(if_statement) @branch
(for_statement) @loop
(while_statement) @loop
