; Captures are explained in languages/__init__.py.

(function_definition name: (word) @name body: (_) @body) @function

; What shell.py makes of Bats' @test.
((variable_assignment name: (variable_name) @_test) @attribute @trivia (#eq? @_test "B__"))

(comment) @comment

(command name: (command_name . (word) @call .))

[(if_statement) (elif_clause) (case_item) (ternary_expression)] @branch
[(for_statement) (c_style_for_statement) (while_statement)] @loop

(command name: (command_name) @_source (#any-of? @_source "source" ".")) @import
