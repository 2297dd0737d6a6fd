; Captures are explained in languages/__init__.py.

(class_declaration declaration_kind: ["class" "actor"] name: (_) @name body: (_) @body) @class
(class_declaration declaration_kind: "struct" name: (_) @name body: (_) @body) @struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_) @body) @enum
(class_declaration declaration_kind: "extension" name: (_) @name body: (_) @body) @scope
(protocol_declaration name: (_) @name body: (_) @body) @interface

(function_declaration name: _ @name) @function
(function_declaration body: (_) @body)
(protocol_function_declaration name: _ @name) @method
(init_declaration "init" @name) @method
(init_declaration body: (_) @body)
(deinit_declaration "deinit" @name body: (_) @body) @method
(subscript_declaration "subscript" @name) @method
(subscript_declaration (computed_property) @body)
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (computed_property) @body) @function
(typealias_declaration name: (type_identifier) @name) @type
(macro_declaration . (modifiers)? . (simple_identifier) @name) @macro
(macro_declaration definition: (_) @body)

(modifiers (attribute) @attribute)
[(comment) (multiline_comment)] @comment
[(directive) (shebang_line)] @trivia
(class_declaration declaration_kind: "extension" @trivia)
(class_declaration declaration_kind: "extension" name: (_) @trivia)
(class_declaration declaration_kind: "extension" ":" @trivia)
(class_declaration declaration_kind: "extension" (inheritance_specifier) @trivia)
(class_declaration declaration_kind: "extension" (type_constraints) @trivia)
(class_declaration (modifiers) @trivia declaration_kind: "extension")

(call_expression . [(simple_identifier) (navigation_expression)] @call)
(constructor_expression constructed_type: (user_type) @call)
(inheritance_specifier inherits_from: (user_type) @inherits)

[(if_statement) (guard_statement) (switch_entry) (catch_block) (ternary_expression)] @branch
[(for_statement) (while_statement) (repeat_while_statement)] @loop

(import_declaration) @import
